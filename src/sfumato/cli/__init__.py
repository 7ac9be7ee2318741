"""The command line: a command reads its arguments, calls the library, shows the result; no algorithm is here.

How a command is added:

1. A module of its own, `cli/<command>.py`, with one typed function of the command's name. Arguments are
   declared with `Annotated[..., typer.Argument(metavar="TABLE", help=...)]`, the docstring says what it does,
   and `EXAMPLE` shows a call. A command with sub-commands has an `app = typer.Typer(...)` instead
   (see `cli/taxonomy.py`).
2. One line in `cli/main.py`: `_register(publish.publish, example=publish.EXAMPLE)`.

What keeps `sfumato --help` quick: at its top such a module imports the standard library, typer,
`sfumato.errors` and `sfumato.cli.output` and nothing else. What does the work is imported in the function's
body, when the command is called. A test holds every module of this package to that.

What a command leaves to others: it raises a `SfumatoError` and `main` shows it (exit code 2); it says another
exit code with `raise typer.Exit(1)`; results go to standard output with `cli.output.show` or `typer.echo`,
everything about the run (notes, progress) to standard error with `cli.output.note`; figures, which --json prints, to
`cli.output.figures`; files are written with `cli.output.save`. --quiet and --json are added by `main` to every command.
"""
