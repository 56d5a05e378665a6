"""`python -m likewise`: the command line, where the command itself is not on the path."""

from likewise.cli import main

if __name__ == "__main__":
    main()
