"""Every block of code in the documentation is tried: what can run is run, what cannot is checked and says why.

Outputs that a page shows are compared with what came. RENEW=1 puts what came in the place of outputs that differ; take
out of them what readers need not see. scripts/code_blocks.py says what the info strings of blocks mean.
"""

import configparser
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import neo4j
import pytest
import yaml

from scripts.block_checks import RUN, faults_of, is_run, program_of, synopsis_faults
from scripts.code_blocks import Command, blocks_of, commands_of, pages, statements_of
from scripts.shown_output import difference, ids, missing_lines

PROJECT = Path(__file__).resolve().parents[3]
PAGES = {page: blocks_of(page, text) for page, text in pages(PROJECT).items()}
OPENAPI = json.loads((PROJECT / "docs" / "openapi.json").read_text(encoding="utf-8"))
NAMED = re.compile(r"(?:\s-n|--namespace|Librarian-Namespace:)[ =]'?([\w:.@*-]+)")
PARAMETERS = {"namespace": "sample", "uid": "mem-deploy-failed", "id": ""}
SHELL = {"sh", "console"}


@pytest.mark.parametrize("page", PAGES)
async def test_the_blocks_of_a_page_tell_the_truth(page, reader, librarian):
    """They run from top to bottom as a reader would, in a folder and namespaces of the page's own."""
    trial = Trial(reader, librarian)
    faults = [f"{block}: {fault}" for block in PAGES[page] for fault in await trial.faults(block)]
    if os.environ.get("RENEW") and trial.renewals:
        renew(PROJECT / page, trial.renewals)
    assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_works_in_namespaces_that_nobody_else_has(page):
    """A reader's own data, and the tests', are safe: examples write into `team:…` or the default, which a test sets."""
    statements = [entry for block in PAGES[page] if block.language in SHELL for entry in statements_of(asked(block))]
    ours = [entry for entry in statements if program_of(entry) in {"librarian", "curl"}]
    named = {name for statement in ours for name in NAMED.findall(statement)}
    assert {name for name in named if not re.match(r"team:|app:|sample$|NAMESPACE|NS$|eval:", name)} == set()


def test_what_is_not_run_says_why():
    """And it is little: most blocks run."""
    blocks = [block for blocks in PAGES.values() for block in blocks]
    left_out = [block for block in blocks if "no-run" in block.options]
    reported = [f"{len(blocks)} blocks, {len(left_out)} of them only checked:"]
    reported += [f"  {block}: {block.options['no-run']}" for block in left_out]
    sys.stdout.write("\n".join(reported) + "\n")  # pytest -s shows it
    assert all(block.options["no-run"].strip() for block in left_out)
    assert len(left_out) < len(blocks) / 4


class Trial:
    """One reading of a page, block after block."""

    def __init__(self, reader, librarian):
        self.reader = reader
        self.librarian = librarian
        self.printed = self.complained = ""
        self.came = {}
        self.renewals = []

    async def faults(self, block):
        """Return the faults of a block, one text each."""
        if block.language not in TRIALS:
            return [f"nobody checks this language; known are {sorted(TRIALS)}"]
        try:
            faults = TRIALS[block.language](self, block)
            return faults if isinstance(faults, list) else await faults
        except (TimeoutError, ValueError, neo4j.exceptions.Neo4jError) as error:
            return [f"{type(error).__name__}: {error}"]

    def only_checked(self, block):
        """Whether a block is not run, here or anywhere."""
        elsewhere = self.librarian.settings.neo4j.uri is not None
        return "no-run" in block.options or ("managed" in block.options and elsewhere)

    async def sh(self, block):
        """Statements that end by themselves are run, in one script; the others are checked."""
        if "synopsis" in block.options:
            forms = re.sub(r"\n +", " ", block.text).splitlines()
            return [fault for form in forms for fault in synopsis_faults(form)]
        statements = statements_of(block.text)
        faults = shell_faults(block.text, statements)
        if faults or self.only_checked(block):
            return faults
        if "background" in block.options:
            await self.reader.leave_running(block.text, block.options["background"])
            return []
        faults = [f"who runs {program_of(entry)}? say no-run" for entry in statements if unknown(entry)]
        script = "\n".join(entry for entry in statements if is_run(entry))
        return faults or await self._run(script, block, together=False)

    async def console(self, block):
        """Commands behind a prompt are run; the lines below are their output."""
        commands = commands_of(block.text)
        faults = [fault for entry in commands for fault in shell_faults(entry.text, [entry.text])]
        if faults or self.only_checked(block):
            return faults
        faults, shown = [], []
        for command in commands:
            faults += await self._run(command.text, block)
            self.came |= ids(command.shown, self.printed)
            missing = missing_lines(command.shown, self.printed)
            faults += [f"$ {command.text}\nprinted\n{self.printed}not\n" + "\n".join(missing)] if missing else []
            shown.append(Command(command.text, self.printed.rstrip()) if missing else command)
        if faults:
            self.renewals.append((block, "".join(f"$ {entry.text}\n{entry.shown}".rstrip() + "\n" for entry in shown)))
        return faults

    async def python(self, block):
        """A program of its own, warnings as errors, with a service to ask; it prints nothing but its answers."""
        if "no-run" in block.options:
            compile(block.text, str(block), "exec")
            return []
        (self.reader.folder / "block.py").write_text(self.reader.reported(block.text), encoding="utf-8")
        remote = {"LIBRARIAN_REMOTE": self.reader.url, "LIBRARIAN_API_KEY": self.reader.key}
        variables = remote if re.search(r"librarian\.(client|adapters)", block.text) else {}
        faults = await self._run("python block.py", block, together=False, **variables)
        return [*faults, f"standard error: {self.complained}"] if self.complained else faults

    async def cypher(self, block):
        """Read-only, on the sample; an example that finds nothing shows nothing."""
        if "no-run" in block.options:
            return []
        driver = self.librarian.parts.executor.driver
        found = []
        for statement in filter(str.strip, re.split(r";\s*$", block.text, flags=re.MULTILINE)):
            rows, _, _ = await driver.execute_query(
                self.reader.reported(statement),
                PARAMETERS,
                routing_=neo4j.RoutingControl.READ,
                database_=self.librarian.settings.neo4j.database,
            )
            found.append(rows)
        return [] if all(found) or "empty" in block.options else ["no rows"]

    def json(self, block):
        """It parses; an answer is what came, a body fits its schema."""
        value = json.loads(block.text)
        if "schema" in block.options:
            schema = {"$ref": f"#/components/schemas/{block.options['schema']}", "components": OPENAPI["components"]}
            return [fault.message for fault in jsonschema.Draft202012Validator(schema).iter_errors(value)]
        if "answer" not in block.options:
            return []
        answered = last_json(self.printed)
        fault = difference(value, answered)
        if fault:
            self.renewals.append((block, json.dumps(answered, ensure_ascii=False, indent=2) + "\n"))
        return [f"{fault}\n{self.printed}"] if fault else []

    def text(self, block):
        """Only what is called an output is compared."""
        if "output" not in block.options:
            return []
        missing = missing_lines(block.text, self.printed) if block.text.strip() else ["an empty output"]
        if missing:
            self.renewals.append((block, self.printed))
        return [f"printed\n{self.printed}not\n" + "\n".join(missing)] if missing else []

    async def _run(self, script, block, **how):
        """Faults of the exit code; the ids that the page shows are those that came."""
        if not script.strip():
            return []
        for shown, came in self.came.items():
            script = script.replace(shown, came)
        code = int(block.options.get("exit", 0))
        if "width" in block.options:
            how["COLUMNS"] = block.options["width"]
        done, self.printed, self.complained = await self.reader.run(script, **how)
        return [] if done == code else [f"exit code {done}, not {code}:\n{self.printed}{self.complained}"]


def asked(block):
    """Return the script that a block gives to a shell."""
    if block.language == "console":
        return "\n".join(command.text for command in commands_of(block.text))
    return "" if "synopsis" in block.options else block.text


def shell_faults(script, statements):
    """Of bash's grammar, and of what the statements name."""
    grammar = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    return [*grammar.stderr.splitlines(), *(fault for entry in statements for fault in faults_of(entry, PROJECT))]


def unknown(statement):
    """Whether nothing says that a statement may be run, nor that it is one of those that are only checked."""
    return not is_run(statement) and program_of(statement) not in {*RUN, "make", "pip", "docker", "sudo", "kubectl"}


def renew(page, renewals):
    """Put new texts in the place of the blocks', which are looked up by the lines that they begin in."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    for block, text in sorted(renewals, key=lambda entry: -entry[0].line):
        lines[block.line : block.line + len(block.text.splitlines())] = [text]
    page.write_text("".join(lines), encoding="utf-8")


def last_json(printed):
    """The last value of JSON that was printed, behind headers and other values; None where there is none."""
    decoder, index, value = json.JSONDecoder(), 0, None
    body = re.sub(r"^HTTP/.*?\r?\n\r?\n", "", printed, flags=re.DOTALL | re.MULTILINE)
    while index < len(body):
        if body[index].isspace():
            index += 1
        else:
            value, index = decoder.raw_decode(body, index)
    return value


def parsed(parse):
    """A trial that reads the block with `parse`, which raises where it cannot."""

    def trial(_trial, block):
        parse(block.text)
        return []

    return trial


TRIALS = {
    "sh": Trial.sh,
    "console": Trial.console,
    "python": Trial.python,
    "cypher": Trial.cypher,
    "json": Trial.json,
    "text": Trial.text,
    "jsonl": parsed(lambda text: [json.loads(line) for line in text.splitlines()]),
    "toml": parsed(tomllib.loads),
    "yaml": parsed(yaml.safe_load),
    "ini": parsed(configparser.ConfigParser(strict=False, interpolation=None).read_string),
    "markdown": parsed(str),
}
