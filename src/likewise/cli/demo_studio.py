"""The studio on bundled data: the digits, to be grouped by whoever opens it."""

from pathlib import Path

from likewise.cli.studio_command import run_studio
from likewise.datasets import load_digits
from likewise.labeling import LabelingSession
from likewise.studio import RowGallery

LOG = "digits-answers.log"


def run_demo_studio(
    folder: Path, *, random_state: int, port: int | None, opens_browser: bool
) -> None:
    """Serve the digits; answers are kept in the folder, and resumed from there."""
    digits = load_digits()
    session = LabelingSession(digits.X / 16, random_state=random_state)
    images = digits.X.reshape(-1, 8, 8)
    gallery = RowGallery("Handwritten digits", "images", len(images), images=images)
    folder.mkdir(parents=True, exist_ok=True)
    log = str(folder / LOG)
    run_studio(session, gallery, log, folder, port=port, opens_browser=opens_browser)
