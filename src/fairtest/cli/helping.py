"""How help looks: short with ``-h``, complete with ``--help``, options in sections, headings in bold on a terminal.

This is click's own help with sections. Libraries that do more of it (rich-click, cloup) were tried: loading them alone
takes as long as all of our help does, and neither has a short and a complete one.
"""

from __future__ import annotations

from inspect import cleandoc
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from fairtest.cli.complete import by_metavar, names_among
from fairtest.cli.spelling import spelled_as_options
from fairtest.exceptions import FairTestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fairtest.cli.complete import NamesToComplete

TRACEBACK = "fairtest.traceback"
"""Where a context keeps whether the user wants to see where in the code an error came from."""
PATHS = ("DIR", "FILE")
"""What stands for the value of an option that is a path: a configuration file gives it relative to itself."""


class Formatter(click.HelpFormatter):
    """Writes headings in bold and options in colour; click takes both out where nobody can see them."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the first line."""
        super().write_usage(prog, args, click.style("Usage: ", bold=True) if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        """Write the title of a section."""
        self.write(f"{'':>{self.current_indent}}{click.style(f'{heading}:', bold=True)}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names with what they mean."""
        super().write_dl([(click.style(name, fg="cyan"), words) for name, words in rows], col_max, col_spacing)

    def write_lists(self, epilog: str, *, text: bool = True) -> None:
        """Write the lists of an epilog under their titles, and the ``text`` between them."""
        for title, paragraph in epilog_parts(epilog):
            if title:
                with self.section(title):
                    self.write("".join(f"  {line.removeprefix('  ')}\n" for line in paragraph.splitlines()))
            elif text:
                self.write_paragraph()
                self.write_text(paragraph)


class HelpContext(click.Context):
    """A context whose help is written by :class:`Formatter`."""

    formatter_class = Formatter


class Option(click.Option):
    """An option that stands in a section of the help.

    Parameters
    ----------
    usage
        What one types, and what stands for the value: ``"-p --protected COLUMN"``. The latter also says how the shell
        completes it, and whether it is a path.
    words
        What the help says.
    essential
        Whether the short help has it; what is required is there in any case.
    choices
        The names it takes, where these are all the library's own.
    """

    def __init__(
        self, usage: str, words: str, *, essential: bool = False, choices: NamesToComplete = (), **attributes: Any
    ) -> None:
        names = [word for word in usage.split() if word.startswith("-")]
        metavar = next((word for word in usage.split() if word not in names), None)
        complete = names_among(choices) if choices else by_metavar(metavar)
        super().__init__(names, metavar=metavar, help=words, shell_complete=complete, **attributes)
        self.section = "Other"
        self.essential = essential or self.required
        self.is_path = metavar in PATHS


def section(title: str, *options: Option) -> tuple[Option, ...]:
    """Return options that stand under a title."""
    for option in options:
        option.section = title
    return options


class Command(click.Command):
    """A command with two helps, whose options stand in sections, in their order; options without one come last."""

    context_class = HelpContext

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, ``-h`` among them."""
        return [*super().get_params(ctx), short_help_option()]

    def get_short_help_str(self, limit: int = 1000) -> str:
        """Return the first sentence whole: a list of commands breaks lines rather than sentences."""
        return super().get_short_help_str(max(limit, 1000))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what goes wrong is put in the words of its options."""
        try:
            return super().invoke(ctx)
        except FairTestError as error:
            error.brief = spelled_as_options(error, ctx)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a list for each section."""
        _write_sections(ctx, formatter, self._options(ctx))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the examples and what else there is to say, with headings like the others."""
        assert isinstance(formatter, Formatter)
        formatter.write_lists(self.epilog or "")

    def short_text(self, ctx: click.Context) -> str:
        """Return the short help: what it does, the options most people need, examples."""
        formatter = Formatter(width=ctx.terminal_width, max_width=ctx.max_content_width)
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((self.help or "").split("\n\n")[0])
        _write_sections(ctx, formatter, [o for o in self._options(ctx) if getattr(o, "essential", False)], "Options")
        formatter.write_lists(self.epilog or "", text=False)
        formatter.write_paragraph()
        formatter.write_text(f"Every option: {ctx.command_path} --help")
        return formatter.getvalue().rstrip("\n")

    def _options(self, ctx: click.Context) -> list[click.Option]:
        return [p for p in self.get_params(ctx) if isinstance(p, click.Option)]


def command(*sections: Sequence[Option]) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function, with these options and ``--traceback``.

    Its docstring is the help: what it does, a section ``Examples``, and what else there is to say after them.
    """

    def make(function: Callable[..., Any]) -> Command:
        words, _, examples = cleandoc(function.__doc__ or "").partition("Examples\n--------\n")
        options = [*chain(*sections), traceback_option()]
        return click.command(cls=Command, params=options, help=words, epilog=f"Examples:\n{examples}")(function)

    return make


def traceback_option() -> Option:
    """Return the option ``--traceback``."""

    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[TRACEBACK] = ctx.meta.get(TRACEBACK, False) or value

    words = "If something goes wrong, show where in the code."
    return Option("--traceback", words, is_flag=True, is_eager=True, expose_value=False, callback=remember)


def short_help_option() -> click.Option:
    """Return the option ``-h``."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            command = ctx.command
            text = command.short_text(ctx) if isinstance(command, Command) else ctx.get_help()
            click.echo(text, color=ctx.color)
            ctx.exit()

    words = "Show the most important options and examples, and exit."
    return Option("-h", words, is_flag=True, is_eager=True, expose_value=False, callback=show)


def _write_sections(
    ctx: click.Context, formatter: click.HelpFormatter, options: Iterable[click.Option], title: str | None = None
) -> None:
    """Write options under the titles of their sections, or all under one."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for option in options:
        if (record := option.get_help_record(ctx)) is not None:
            sections.setdefault(title or section_of(option), []).append(record)
    for name, records in sections.items():
        with formatter.section(name):
            formatter.write_dl(records)


def section_of(option: click.Parameter) -> str:
    """Return the title of the section that an option stands in; those of click itself stand with the last ones."""
    return option.section if isinstance(option, Option) else "Other"


def epilog_parts(epilog: str) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of an epilog: lists with the title above them, and text without one."""
    for paragraph in epilog.replace("\b\n", "").split("\n\n"):
        first, _, rest = paragraph.strip().partition("\n")
        if first.endswith(":") and rest.startswith("  "):
            yield first.removesuffix(":"), rest
        elif paragraph.strip():
            yield "", paragraph.strip()
