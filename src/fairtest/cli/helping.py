"""How help looks: short with ``-h``, complete with ``--help``, options in sections, headings in bold on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fairtest.cli.spelling import spelled_as_options
from fairtest.exceptions import FairTestError

if TYPE_CHECKING:
    from collections.abc import Iterable


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


class HelpContext(click.Context):
    """A context whose help is written by :class:`Formatter`."""

    formatter_class = Formatter


class Option(click.Option):
    """An option that stands in a section of the help.

    Parameters
    ----------
    essential
        Whether the short help has it.
    is_path
        Whether its value is a path, which a configuration file gives relative to itself.
    """

    def __init__(
        self, *args: Any, section: str = "Other", essential: bool = False, is_path: bool = False, **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.section = section
        self.essential = essential
        self.is_path = is_path


def short_help_option() -> click.Option:
    """Return the option ``-h``."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            command = ctx.command
            text = command.short_text(ctx) if isinstance(command, Command) else ctx.get_help()
            click.echo(text, color=ctx.color)
            ctx.exit()

    words = "Show the most important options and examples, and exit."
    return click.Option(["-h"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=words)


class Command(click.Command):
    """A command with two helps, whose options stand in sections, in their order; options without one come last."""

    context_class = HelpContext

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, ``-h`` among them."""
        return [*super().get_params(ctx), short_help_option()]

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
        for title, text in epilog_parts(self.epilog or ""):
            if title:
                _write_list(formatter, title, text)
            else:
                formatter.write_paragraph()
                formatter.write_text(text)

    def short_text(self, ctx: click.Context) -> str:
        """Return the short help: what it does, the options most people need, examples."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((self.help or "").split("\n\n")[0])
        essential = [o for o in self._options(ctx) if getattr(o, "essential", False)]
        _write_sections(ctx, formatter, essential, "Options" if essential else None)
        for title, text in epilog_parts(self.epilog or ""):
            if title:
                _write_list(formatter, title, text)
        formatter.write_paragraph()
        formatter.write_text(f"Every option: {ctx.command_path} --help")
        return formatter.getvalue().rstrip("\n")

    def _options(self, ctx: click.Context) -> list[click.Option]:
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        return sorted(options, key=lambda option: not isinstance(option, Option))


def _write_sections(
    ctx: click.Context, formatter: click.HelpFormatter, options: Iterable[click.Option], title: str | None = None
) -> None:
    sections: dict[str, list[tuple[str, str]]] = {}
    for option in options:
        section: str = getattr(option, "section", "Other")
        if (record := option.get_help_record(ctx)) is not None:
            sections.setdefault(title or section, []).append(record)
    for name, records in sections.items():
        with formatter.section(name):
            formatter.write_dl(records)


def _write_list(formatter: click.HelpFormatter, title: str, text: str) -> None:
    with formatter.section(title):
        formatter.write("".join(f"  {line.removeprefix('  ')}\n" for line in text.splitlines()))


def epilog_parts(epilog: str) -> Iterable[tuple[str, str]]:
    """Yield the paragraphs of an epilog: lists with the title above them, and text without one."""
    for paragraph in epilog.replace("\b\n", "").split("\n\n"):
        first, _, rest = paragraph.strip().partition("\n")
        if first.endswith(":") and rest.startswith("  "):
            yield first.removesuffix(":"), rest
        elif paragraph.strip():
            yield "", paragraph.strip()
