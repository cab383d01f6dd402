"""schemathesis reads the OpenAPI document of the running service and tries what it promises.

It runs as a program of its own, so that the service answers meanwhile. For longer: LIBRARIAN_TEST_FUZZ_S=600.
"""

import asyncio
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = os.environ.get("LIBRARIAN_TEST_FUZZ_S", "45")


async def test_the_service_keeps_what_its_document_promises(service, key, namespace, tmp_path):
    """Statuses, headers, content types and bodies are those documented; what the document allows is taken, what it
    forbids is refused, no key opens nothing, and whatever is sent is no defect.
    """
    tried = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("schemathesis"),
        *("--config-file", HERE / "schemathesis.toml", "run", f"{service}/openapi.json"),
        *(
            "--max-time",
            SECONDS,
            "--request-timeout",
            "60",
            "--suppress-health-check",
            "all",
            "--no-color",
            "--output-truncate",
            "true",
        ),
        cwd=tmp_path,
        env={
            **os.environ,
            "LIBRARIAN_TEST_KEY": key,
            "LIBRARIAN_TEST_NAMESPACE": namespace,
            "SCHEMATHESIS_HOOKS": str(HERE / "schemathesis_hooks.py"),
            "NO_PROXY": "127.0.0.1",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    report = (await tried.communicate())[0].decode()
    shown = "\n".join(line[:500] for line in report.splitlines())
    assert tried.returncode == 0, shown
    assert "generated" in shown
