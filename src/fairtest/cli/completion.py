"""``fairtest completion``: what makes a shell complete commands, options and columns."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from fairtest.cli.helping import command

INSTALL = {
    "bash": 'Put this line into ~/.bashrc, and open a new shell:\n  eval "$(fairtest completion bash)"',
    "zsh": 'Put this line into ~/.zshrc, after compinit, and open a new shell:\n  eval "$(fairtest completion zsh)"',
    "fish": "Run this once, and open a new shell:\n"
    "  fairtest completion fish > ~/.config/fish/completions/fairtest.fish",
}


@command()
@click.argument("shell", type=click.Choice(list(INSTALL)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that makes a shell (bash, zsh or fish) complete what one types after fairtest.

    Its first lines say how to install it.

    Examples
    --------
      eval "$(fairtest completion bash)"
      fairtest completion fish > ~/.config/fish/completions/fairtest.fish

    With that, the Tab key completes commands, options, the columns of the data named before (-p, -o, -e, -x,
    --exclude), and the names of metrics, searches and corrections.
    """
    found = get_completion_class(shell)
    assert found is not None
    made = found(ctx.find_root().command, {}, "fairtest", "_FAIRTEST_COMPLETE")
    click.echo("".join(f"# {line}\n" for line in INSTALL[shell].splitlines()) + ShellComplete.source(made))
