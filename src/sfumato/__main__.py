"""`python -m sfumato`: the program, also where its command is not on the path."""

from sfumato.cli.main import program

if __name__ == "__main__":
    program()
