"""Ids in paths that cannot be ids."""

from urllib.parse import quote

import pytest

ODD = ["a b", "\0", "\u2028", "x" * 5000, "%ff", "a\nb", "..", "😀", "'; MATCH (n) DELETE n", ":correct", "a:b:correct"]
CALLS = [
    ("GET", "/v1/items/{}", None),
    ("PUT", "/v1/items/{}", {"kind": "message", "text": "x"}),
    ("PATCH", "/v1/items/{}", {"text": "x"}),
    ("DELETE", "/v1/items/{}", None),
    ("GET", "/v1/items/{}/revisions", None),
    ("POST", "/v1/items/{}:correct", {"text": "x"}),
    ("GET", "/v1/edges/{}", None),
    ("DELETE", "/v1/edges/{}", None),
    ("POST", "/v1/namespaces/{}:delete", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS, ids=lambda part: part if isinstance(part, str) else "")
async def test_an_id_that_cannot_be_one_is_refused_or_not_found(client, headers, method, path, body):
    """Never a 500, always a problem where it is refused; a strange id that is allowed may be used."""
    for odd in ODD:
        sent = odd if odd == "%ff" else quote(odd, safe="")
        answer = await client.request(method, path.format(sent), json=body, headers=headers)
        assert answer.status_code in (200, 201, 400, 403, 404, 405, 409), (odd[:40], answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["request_id"] == answer.headers["request-id"]


@pytest.mark.parametrize("uid", ["a b", "x" * 201, "a\nb", "\u2028"])
async def test_no_item_is_made_with_an_impossible_uid(client, headers, uid):
    """A uid that a row may not have, a path may not have either."""
    answer = await client.put(
        f"/v1/items/{quote(uid, safe='')}", json={"kind": "message", "text": "x"}, headers=headers
    )
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_input", "uid")
