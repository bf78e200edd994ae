# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference of the Python interface, from docstrings (pdoc): a folder of the report.

A page describes a package, by what its ``__all__`` exports, or a module that it exports; the guide
and the help of all commands are pages too. One search finds them and the sections of notebooks. A
second report reuses the pages if the package and the sections are the same.
"""

import ast
import hashlib
import inspect
import json
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, get_args

import click
import pdoc.render
import pdoc.search
from pdoc.doc import Class, Doc, Function, Module, Namespace, Variable
from pdoc.docstrings import convert

from swapsim.site.report.shell import TEMPLATES, as_html, heading_name, plain

FOLDER: Final = "api"  # the folder of the reference in a report
_DIGEST: Final = "made-of"  # the file with the digest of what the pages were made of
GUIDE: Final = "swapsim.guide"
TERMS: Final = f"{GUIDE}.terms"
COMMANDS: Final = "swapsim.cli"  # the page of the command line
_TEMPLATES: Final = TEMPLATES / "reference"
_FROM_THE_PACKAGE: Final = re.compile(r"<code>(\w+(?:\.\w+)+)</code>")  # `slots.measure`
_WIDTH: Final = 100  # columns of a command's help
_NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})


def write(folder: Path, earlier: Path, around: bytes, texts: Mapping[str, str]) -> None:
    """Write the reference to a folder, or copy that of an earlier report, made of the same.

    ``around`` is the digest of the package and its libraries, ``texts`` has the markdown of pages.
    """
    pages = folder / FOLDER
    mark = earlier / FOLDER / _DIGEST
    templates = [path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.iterdir())]
    made_of = hashlib.sha256(around + repr((templates, texts)).encode()).hexdigest()
    if mark.is_file() and mark.read_text(encoding="utf-8") == made_of:
        shutil.copytree(earlier / FOLDER, pages)
        return
    for name, text in rendered(modules(), texts).items():
        path = pages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (pages / _DIGEST).write_text(made_of, encoding="utf-8")


def modules() -> list[str]:
    """Return the names of the modules that have a page: the guide, the commands, what is exported.

    Internal modules have none: what a caller needs is exported by its package, or is a module that
    its package exports.
    """
    return ["swapsim", *_exported(GUIDE), COMMANDS, *_exported("swapsim")[1:]]


def _exported(name: str) -> list[str]:
    """Return a module and the modules that it exports, but for those of tables."""
    module = import_module(name)
    inner = (each for each in getattr(module, "__all__", ()) if each != "tables")
    return [
        name,
        *(
            each
            for of in inner
            if isinstance(getattr(module, of), ModuleType)
            for each in _exported(f"{name}.{of}")
        ),
    ]


def rendered(names: Sequence[str], texts: Mapping[str, str] = _NO_TEXTS) -> dict[str, str]:
    """Return the file name and the text of each page of the reference, and of its search."""
    for name in names:
        for exported in vars(import_module(name)).get("__all__", ()):
            getattr(import_module(name), exported)  # pdoc does not see what is not imported yet
    pdoc.render.configure(docformat="numpy", show_source=False, template_directory=_TEMPLATES)
    pdoc.render.env.filters["to_markdown"] = _markdown
    pdoc.render.env.filters["task"] = _task
    with warnings.catch_warnings(action="error", category=UserWarning):
        # A class of type checkers alone, from a module that Python does not have.
        warnings.filterwarnings("ignore", "(?s).*(_typeshed|DataclassInstance)")
        found = {name: Module.from_name(name) for name in names}
        for module in found.values():
            _prepare(module, found)
        if COMMANDS in found:
            vars(found[COMMANDS])["docstring"] = commands()
        links = _links(found)
        pages = {
            f"{name.replace('.', '/')}.html": _page(module, found, links)
            for name, module in found.items()
        }
        return {**pages, "search.js": _search(found, texts)}


def commands() -> str:
    """Return the help of all commands as markdown, with a heading for each."""
    top = import_module(COMMANDS).cli
    parts = [
        "# The commands",
        *_help(
            top,
            click.Context(top, info_name="swapsim", terminal_width=_WIDTH, **top.context_settings),
        ),
    ]
    return "\n\n".join(parts)


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of a command, and those of its own commands."""
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.commands[name]
            yield from _help(inner, click.Context(inner, context, name))


def _markdown(docstring: str) -> str:
    """Return a docstring as markdown, in which indentation alone makes a block."""
    text = re.sub(r"(?m)^( *)::\n", r"\1\n", docstring).replace("::\n", ":\n")
    return convert(text, "numpy", None)


def _task(module: Module) -> str:
    """Return the title of a page of the guide, which its first line begins with; else nothing."""
    return module.docstring.partition(":")[0] if module.fullname.startswith(GUIDE) else ""


def _prepare(module: Module, found: Mapping[str, Module]) -> None:
    """Choose a module's submodules and public members, and leave out values that are no literals.

    Those values are tables, modules, functions and sets, whose text is long, contains addresses or
    paths, or differs between two runs. pdoc's cached properties take what is stored as them.
    """
    children = [each for each in found if each.rpartition(".")[0] == module.fullname]
    vars(module)["submodules"] = [found[each] for each in _in_order(children, module.docstring)]
    public = [each for name, each in module.members.items() if name[0] != "_" or name[1] == "_"]
    if not hasattr(module.obj, "__all__"):  # what a user calls has an example
        public.sort(key=lambda each: ">>>" not in each.docstring)
    vars(module)["members"] = {each.name: each for each in public}
    for member in _members(module):
        if isinstance(member, Class):
            vars(member)["own_members"] = shown = _shown_members(member, found)
            vars(member)["members"] = {each.name: each for each in shown}
        if isinstance(member, Function):
            vars(member)["signature"] = _readable(member.signature)
        elif isinstance(member, Variable) and not _is_literal(member.default_value):
            vars(member)["default_value_str"] = ""


def _in_order(names: Sequence[str], docstring: str) -> list[str]:
    """Return names of modules in the order in which a docstring lists them, the others last."""
    listed = re.findall(r"(?m)^- ``(\w+)``", docstring)
    last = len(listed)
    own = {name: name.rpartition(".")[2] for name in names}
    return sorted(names, key=lambda name: listed.index(own[name]) if own[name] in listed else last)


def _members(of: Namespace[Any]) -> Iterator[Doc[Any]]:
    """Yield what a module has, and what its classes have."""
    for member in of.own_members:
        yield member
        if isinstance(member, Class):
            yield from _members(member)


def _shown_members(of: Class, found: Mapping[str, Module]) -> list[Doc[Any]]:
    """Return what a class has of its own, or of a base of ours whose module has no page.

    Fields without a text are in that of their class.
    """
    without = (base for base, _ in of.inherited_members if base not in found)
    bases = {base for base in without if base.startswith("swapsim.")}
    own = {each.qualname for each in of.own_members}
    own |= {each.qualname for each in of.members.values() if each.taken_from[0] in bases}
    bare = re.compile("$|Alias for field number")
    return [
        each
        for each in of.members.values()
        if each.qualname in own and not (each.kind == "variable" and bare.match(each.docstring))
    ]


class _Omitted:
    """The default of a parameter that is no literal."""

    def __repr__(self) -> str:
        return "..."


def _readable(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature with literals as defaults, and the class of its named arguments."""

    def shown(each: inspect.Parameter) -> inspect.Parameter:
        if each.kind is each.VAR_KEYWORD and (of := get_args(each.annotation)):
            return each.replace(annotation=of[0])  # of Unpack[How]
        if each.default is each.empty or _is_literal(each.default):
            return each
        return each.replace(default=_Omitted())

    return signature.replace(parameters=[shown(each) for each in signature.parameters.values()])


def _is_literal(value: object) -> bool:
    """Return whether a value's text is that of a literal of Python in a fixed order."""
    try:
        return not isinstance(ast.literal_eval(repr(value)), set)
    except (ValueError, SyntaxError):
        return False


def _search(found: Mapping[str, Module], texts: Mapping[str, str]) -> str:
    """Return the script that searches pages, terms, and sections.

    What has no text, and what a package exports of a module once more, is left out.
    """
    made = pdoc.search.make_index(found, lambda each: not each.name.startswith("_"), "numpy")
    members = {(each["fullname"].rpartition(".")[2], each.get("doc")): each for each in made[::-1]}
    documents = [each for each in reversed(members.values()) if each.get("doc")]
    for each in documents:
        if not each.get("qualname") and (task := _task(found[each["modulename"]])):
            each |= {"fullname": task, "first": True}
    if TERMS in found:
        documents += _terms(found[TERMS].docstring)
    documents += (each for name, text in texts.items() for each in _sections(name, text))
    template = pdoc.render.env.get_template("search.js.jinja2")
    return template.render(search_index=json.dumps(documents))


def _terms(text: str) -> Iterator[dict[str, Any]]:
    """Yield the terms of the guide, each with the heading of its page."""
    for heading, body in _headed(text):
        for term, meaning in re.findall(r"(?ms)^- \*\*(.+?)\*\*: (.*?)(?=^- |^$|\Z)", body):
            found = _document(f"Term: {term}", TERMS, heading_name(heading), meaning)
            yield found | {"first": True}


def _sections(page: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the sections of a page of the report."""
    for heading, body in _headed(text):
        yield _document(f"{heading} ({page})", page, heading_name(heading), body)


def _headed(text: str) -> list[tuple[str, str]]:
    return re.findall(r"(?ms)^#+ (.+?)\n(.*?)(?=^#|\Z)", text)


def _document(name: str, page: str, part: str, text: str) -> dict[str, Any]:
    """Return what the search knows of a part of a page: a browser reads %2E%2E as a folder up."""
    module = page if page.startswith(GUIDE) else f"%2E%2E/{page}"
    doc = plain(as_html(text))
    return {"fullname": name, "modulename": module, "qualname": part, "doc": doc}


def _links(found: Mapping[str, Module]) -> dict[str, str]:
    """Return where a name leads to: a class to its description.

    Left out are names that are a plain word (``Row``).
    """
    return {
        member.name: f"{FOLDER}/{name.replace('.', '/')}.html#{member.name}"
        for name, module in found.items()
        for member in module.own_members
        if isinstance(member, Class) and re.search("[a-z][A-Z]", member.name)
    }


def _page(module: Module, found: Mapping[str, Module], links: Mapping[str, str]) -> str:
    """Return the page of a module, with links from names in its texts."""
    up = "../" * module.fullname.count(".")

    def named(each: re.Match[str]) -> str:
        of, _, name = f"swapsim.{each[1]}".rpartition(".")
        if of not in found or name not in found[of].members:
            return each[0]
        return f'<code><a href="{up}{of.replace(".", "/")}.html#{name}">{each[1]}</a></code>'

    page = _FROM_THE_PACKAGE.sub(named, pdoc.render.html_module(module, found))
    for each in module.submodules:
        task = _task(each)
        link = f'<a href="{module.name}/{each.name}.html">{task or each.name}</a>'
        page = page.replace(f"<code>{each.name}</code>", link if task else f"<code>{link}</code>")
    return _linked(page, links, f"../{up}")


def _linked(page: str, links: Mapping[str, str], up: str) -> str:
    """Return a page with a link from each name; ``up`` leads to the report's folder."""
    names = "|".join(sorted(links))
    as_it_is = r"<(a|script|style|title)\b.*?</\1>|<span class=\"name\">[^<]*[a-z][^<]*</span>"
    found = re.compile(rf"{as_it_is}|\b({names})\b(?![^<>]*>)", re.DOTALL)

    def led(each: re.Match[str]) -> str:
        name = each[2]
        return each[0] if name is None else f'<a href="{up}{links[name]}">{name}</a>'

    return found.sub(led, page)
