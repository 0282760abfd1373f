"""`make bench`: what a token and a kilobyte cost on this machine."""

from bench import redaction, server, wire


def main() -> None:
    for module in (wire, redaction, server):
        for result in module.measure():
            print(result, flush=True)


if __name__ == "__main__":
    main()
