"""Runs a command line: the group of commands, and what becomes of errors."""

import os
import sys
from collections.abc import Sequence

import click

from pegasos.base.wording import meant
from pegasos.cli.convert import convert
from pegasos.cli.demo import demo
from pegasos.cli.help import InOrder
from pegasos.cli.inspect import inspect
from pegasos.cli.predict import predict
from pegasos.cli.report import report
from pegasos.cli.signals import SIGNALS
from pegasos.cli.talk import LOST, drop, say, write_whole
from pegasos.cli.train import train


@click.group(cls=InOrder, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pegasos")
@click.pass_context
def pegasos(context: click.Context) -> None:
    """Train support vector machines, with a certificate that proves how close each one is to the optimum.

    \b
    Examples:
      pegasos demo                                           see it work
      pegasos train news.svm news.model                      svmlight text, tables, raw text, sentences
      pegasos predict test.svm news.model labels.txt
      pegasos inspect news.model
      pegasos report news.model test.svm
      pegasos convert news.svm news.ds

    \b
    Completion by the tab key, for bash; for zsh and fish use zsh_source and fish_source:
      eval "$(_PEGASOS_COMPLETE=bash_source pegasos)"
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


#: The variable by which a shell asks for completions; click answers.
COMPLETE = "_PEGASOS_COMPLETE"

for command in (train, predict, inspect, report, convert, demo):
    pegasos.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; the exit code. A user's mistake is one line on standard error, without a traceback."""
    if sys.stderr is None:  # it is closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, as long as the process
    write_whole()
    LOST.why = ""
    try:
        with SIGNALS.caught():
            code = _run(arguments)
            if LOST.why and code == 0:
                return _mistake(
                    f"standard output: {LOST.why}, so that what was to be printed is lost; the model is saved"
                )
            return code
    except KeyboardInterrupt:  # before it began, or after its end
        return SIGNALS.code


def _run(arguments: Sequence[str]) -> int:
    try:
        code = pegasos.main(list(arguments), prog_name="pegasos", standalone_mode=False)
        if sys.stdout is not None:  # it is closed
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exit:
        return exit.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        text = str(error.__cause__ or error)  # click makes an Abort of what came
        say(f"pegasos: {text or 'interrupted'}", err=True)
        return SIGNALS.code
    except (BrokenPipeError, SystemExit) as end:  # the reader of our output went away, of which click makes an exit
        if COMPLETE in os.environ and isinstance(end, SystemExit):  # its other one: a shell asked what comes next
            sys.stdout.flush()
            return end.code if isinstance(end.code, int) else 0
        drop(sys.stdout)
        return 0
    except click.NoSuchOption as error:
        command = error.ctx.command if error.ctx is not None else pegasos
        known = [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]
        slip = meant(error.option_name, [name for name in known if name.startswith("--")], str)
        path = error.ctx.command_path if error.ctx is not None else "pegasos"
        return _mistake(f"no option {error.option_name}{slip or f'; {path} --help lists them'}")
    except click.ClickException as error:
        return _mistake(error.format_message())
    except OSError as error:
        if error.filename is None and sys.stdout is not None:
            drop(sys.stdout)
        return _mistake(f"{error.filename or 'standard output'}: {error.strerror}" if error.strerror else str(error))
    except MemoryError as error:
        told = "" if str(error).startswith("Unable to allocate") else str(error)  # NumPy's words
        return _mistake(told or "out of memory; the data must fit, try --dtype float32")
    except (ValueError, TypeError, ImportError) as error:
        return _mistake(str(error))


def _mistake(message: str) -> int:
    say(f"pegasos: {' '.join(message.split())}", err=True)
    return 2
