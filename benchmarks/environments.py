"""An environment for each peer, made on demand from peers/NAME.txt: its pins don't touch ours."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PEERS = HERE / "peers"


def python_of(contestant):
    """The interpreter that a contestant's jobs run in."""
    requirements = PEERS / f"{contestant}.txt"
    if not requirements.exists():
        return Path(sys.executable)
    folder = PEERS / ".venvs" / contestant
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    made_from = folder / "made-from.txt"
    if not made_from.exists() or made_from.read_text() != requirements.read_text():
        print(f"making the environment of {contestant} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        subprocess.run([*install, "-r", requirements], check=True)
        made_from.write_text(requirements.read_text())
    return python


def methods_file_of(contestant):
    """The file of methods that worker.py loads for a contestant."""
    peer = PEERS / f"{contestant}.py"
    return peer if peer.exists() else HERE / "ours.py"
