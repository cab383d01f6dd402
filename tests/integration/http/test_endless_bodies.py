"""A client that never ends its request."""

import asyncio
from urllib.parse import urlsplit

import pytest

WAIT_S = 60


async def answer_to(client, headers, path, content_type, piece, pause_s):
    """The status line of what the service says to a body that goes on for ever; the connection ends then."""
    address = urlsplit(str(client.base_url))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = {**headers, "Host": address.netloc, "Content-Type": content_type, "Transfer-Encoding": "chunked"}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    writer.write("\r\n".join(lines).encode())

    async def send():
        while True:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(pause_s)

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(WAIT_S):
            return (await reader.readline()).decode().split(" ")[1]
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()


@pytest.mark.parametrize(
    ("path", "content_type", "piece", "pause_s", "status"),
    [
        ("/v1/items", "application/json", b" ", 0.02, "504"),
        ("/v1/items", "application/json", b" " * 65_536, 0.0, "413"),
        ("/v1/items", "application/x-ndjson", b" ", 0.02, "504"),
        ("/v1/items", "application/x-ndjson", b" " * 65_536, 0.0, "413"),
        ("/v1/search", "application/json", b" ", 0.02, "504"),
    ],
    ids=["slow", "fast", "slow lines", "one endless line", "slow search"],
)
async def test_a_body_without_an_end_is_answered(serving, headers, path, content_type, piece, pause_s, status):
    """A slow one when its time is up, a fast one at the limit; both learn it while they still send."""
    async with serving(request_timeout_s=1.0, max_body_bytes=2**20) as client:
        assert await answer_to(client, headers, path, content_type, piece, pause_s) == status
