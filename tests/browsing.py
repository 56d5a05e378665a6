"""What tests in a real browser share: Chromium through Playwright, and a look at all words."""

import contextlib
import os
import shutil

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
NO_BROWSER = "no Chromium here: apt-get install chromium"
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
CONTRASTS = """() => {
  const channels = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const behind = e => {
    const color = channels(getComputedStyle(e).backgroundColor);
    return color.length == 3 || color[3] ? color : behind(e.parentElement);
  };
  return [...document.querySelectorAll('body *')]
    .filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()))
    .filter(e => !e.closest('svg'))
    .map(e => {
      const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))];
      return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.tagName + ' ' + e.className];
    });
}"""


@contextlib.contextmanager
def chromium(*arguments):
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        sandbox = () if os.geteuid() else ("--no-sandbox",)  # Chromium has no sandbox for root
        opened = running.chromium.launch(
            executable_path=BROWSER, args=[*sandbox, *QUIET, *arguments]
        )
        yield opened
        opened.close()
