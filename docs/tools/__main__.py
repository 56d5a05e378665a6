"""Write the present figures of all tables into the pages that quote them: `make quotes`.

With --check nothing is written. Either way what is still wrong is told, a line each.
"""

import sys

from docs.tools import quotes, which
from docs.tools.tables import ROOT


def main(arguments: list[str]) -> int:
    n_faults = 0
    for path in quotes.pages():
        text = path.read_text()
        if "--check" not in arguments:
            text = quotes.renew(which.written(text))
            path.write_text(text)
        faults = list(quotes.faults_of(text, complete=path in quotes.pages(quotes.COMPLETE)))
        if which.written(text) != text:
            faults.append("its tables are older than the runs they compare")
        for fault in faults:
            print(f"{path.relative_to(ROOT)}: {fault}")
        n_faults += len(faults)
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
