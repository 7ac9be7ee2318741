"""The program `sfumato`: its commands, and how it ends."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Annotated

import typer

from sfumato.cli import (
    advise,
    apply,
    attack,
    clusters,
    copy,
    demo,
    draft,
    evaluate,
    explain,
    hold,
    key,
    ledger,
    policies,
    publish,
    schema,
    studio,
    sweep,
    taxonomy,
    verify,
)
from sfumato.cli.options import with_options
from sfumato.cli.output import note, show_error
from sfumato.cli.progress import ending_signals
from sfumato.errors import SfumatoError

# Tracebacks stay plain: the pretty ones print local variables, and those hold people's data.
app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _register(command: Callable[..., None], *, example: str, json: bool = True) -> None:
    app.command(epilog=f"[bold]Example[/bold]\n\n{example}")(with_options(command, json=json))


# One line for each command; the order is that of --help.
_register(demo.demo, example=demo.EXAMPLE)
_register(studio.studio, example=studio.EXAMPLE, json=False)
_register(draft.draft, example=draft.EXAMPLE)
_register(schema.schema, example=schema.EXAMPLE, json=False)
_register(advise.advise, example=advise.EXAMPLE)
_register(policies.policies, example=policies.EXAMPLE)
_register(publish.publish, example=publish.EXAMPLE)
_register(verify.verify, example=verify.EXAMPLE)
_register(clusters.clusters, example=clusters.EXAMPLE)
_register(copy.copy, example=copy.EXAMPLE, json=False)
_register(key.sign, example=key.EXAMPLE, json=False)
_register(attack.attack, example=attack.EXAMPLE)
_register(explain.explain, example=explain.EXAMPLE)
_register(evaluate.evaluate, example=evaluate.EXAMPLE)
_register(sweep.sweep, example=sweep.EXAMPLE)
_register(apply.apply, example=apply.EXAMPLE, json=False)
_register(hold.together, example=hold.EXAMPLE_TOGETHER, json=False)
_register(hold.hold, example=hold.EXAMPLE, json=False)
_register(ledger.ledger, example=ledger.EXAMPLE)
app.add_typer(key.app, name="key")
app.add_typer(taxonomy.app, name="taxonomy")


def _version(asked: bool) -> None:
    if asked:
        import sfumato

        typer.echo(f"sfumato {sfumato.__version__}")
        raise typer.Exit


EXITS = {
    0: "all went well; verify: every check holds",
    1: "something was found: a check of verify fails, a ledger was changed, a taxonomy has mistakes",
    2: "a mistake to mend, told on standard error: an argument, a recipe, a table, what cannot be promised",
    3: "publish --copy: the release is written and entered, and its copy is not; then say sfumato copy",
    130: "ended by Ctrl-C; nothing is left behind",
    143: "ended by a signal of the system (SIGTERM; SIGHUP: 129); nothing is left behind",
}
"""How the program ends, and what that means."""


@app.callback(
    epilog="[bold]Example[/bold]\n\nsfumato draft people.csv --output recipe.yaml\n\n[bold]Exit codes[/bold]\n\n"
    + "\n\n".join(f"{code}: {says}" for code, says in EXITS.items())
)
def sfumato_(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, metavar="", help="Show the version and stop."),
    ] = False,
) -> None:
    """Publish a table of people so that nobody can be picked out and the groups in it can still be found.

    Every command explains itself: sfumato COMMAND --help.
    """


def main() -> None:
    """Run the program; how it ends is told by `EXITS`."""
    try:
        app(prog_name="sfumato")
    except SfumatoError as error:
        show_error(error)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _end(number: int, frame: object) -> None:
    """A signal of the system, outside a run: what was begun is cleaned up on the way out."""
    note(f"ended by {signal.Signals(number).name}", style="")
    raise SystemExit(128 + number)


def program() -> None:
    """The same as a process of its own, which ends at once: to take all modules apart would take half a second more.

    Whoever asked to be called at the end is called, and what was said is out. Where threads still run, it waits for
    them as usual. Products of small matrices are made in one thread, unless somebody says otherwise: others would
    wait for them, spinning, and the loops that take long have threads of their own.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for number in set(ending_signals()) - {signal.SIGINT}:
        signal.signal(number, _end)
    try:
        main()
        code: object = 0
    except SystemExit as ended:
        code = ended.code or 0
    if not isinstance(code, int) or threading.active_count() > 1:
        sys.exit(str(code) if not isinstance(code, int) else code)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    program()
