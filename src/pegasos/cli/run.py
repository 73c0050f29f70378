"""Runs a command line: the group of commands, and what becomes of errors."""

import os
import sys
from collections.abc import Sequence

import click

from pegasos.cli.convert import convert
from pegasos.cli.demo import demo
from pegasos.cli.inspect import inspect
from pegasos.cli.predict import predict
from pegasos.cli.signals import SIGNALS
from pegasos.cli.train import train
from pegasos.cli.wording import in_flags


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pegasos")
@click.pass_context
def pegasos(context: click.Context) -> None:
    """Train support vector machines, each with a certificate of how close to the optimum it is."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (train, predict, inspect, convert, demo):
    pegasos.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; the exit code. A user's mistake is one line on standard error, without a traceback."""
    with SIGNALS.caught():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    try:
        code = pegasos.main(list(arguments), prog_name="pegasos", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exit:
        return exit.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        text = str(error.__cause__ or error)  # click makes an Abort of what came
        click.echo(f"pegasos: {text or 'interrupted'}", err=True)
        return SIGNALS.code
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except click.ClickException as error:
        return _mistake(error.format_message())
    except OSError as error:
        return _mistake(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError:
        return _mistake("out of memory; the data must fit, try --dtype float32")
    except (ValueError, TypeError) as error:
        return _mistake(str(error))


def _mistake(message: str) -> int:
    click.echo(f"pegasos: {in_flags(' '.join(message.split()))}", err=True)
    return 2
