from pathlib import Path

EXPORTS = Path(__file__).parents[2] / "data" / "imports"


async def test_an_export_is_uploaded_as_it_is(client, headers):
    """The body is the file; sent again it changes nothing, and what it holds is found."""
    body = (EXPORTS / "mem0.json").read_bytes()
    first = await client.post("/v1/imports/mem0?filename=mem0.json", content=body, headers=headers)
    assert (first.status_code, first.json()["added"], first.json()["failed"]) == (207, 6, 2)
    again = await client.post("/v1/imports/auto?filename=mem0.json", content=body, headers=headers)
    assert (again.json()["added"], again.json()["unchanged"]) == (0, 6)
    found = await client.post("/v1/search", json={"queries": ["nightly export"]}, headers=headers)
    assert found.json()["results"]


async def test_what_is_no_export_is_refused(client, headers):
    """A body that nobody can read is the caller's fault, and an unknown format too."""
    damaged = await client.post("/v1/imports/slack?filename=x.zip", content=b"PK\x03\x04 no archive", headers=headers)
    assert (damaged.status_code, damaged.json()["code"]) == (400, "invalid_input")
    unknown = await client.post("/v1/imports/notion", content=b"{}", headers=headers)
    assert unknown.status_code in (400, 404)
