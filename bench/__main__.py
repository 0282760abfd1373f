"""`make bench`: what a token and a kilobyte cost on this machine."""

from bench import redaction


def main() -> None:
    for module in (redaction,):
        for result in module.measure():
            print(result, flush=True)


if __name__ == "__main__":
    main()
