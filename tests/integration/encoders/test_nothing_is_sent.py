"""The telemetry that the encoder's library would send to its makers."""

import os
import subprocess
import sys


def test_the_library_prepares_no_telemetry(tmp_path, model_folder):
    """Loading the model in a fresh home leaves no device id and no queue of events, which come before any upload."""
    program = "import sys; from pathlib import Path; from retrieval.encoders.onnx import OnnxEncoder; "
    program += "OnnxEncoder(Path(sys.argv[1]), threads=1)"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_", "CI"))}
    done = subprocess.run(
        [sys.executable, "-c", program, str(model_folder)],
        env={**inherited, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == []
