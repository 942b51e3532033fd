"""Write docs/schema: the JSON Schemas of what `--json` prints and of bundles, made from what writes them.

python scripts/json_schemas.py            write
python scripts/json_schemas.py --check    say what is out of date, exit 1 if anything is
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import cast

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.types import JSONObject  # noqa: E402  # the checkout comes first
from prompt_debugger.core.report.wire import ErrorDocument, ParseDocument, RenderDocument, RunDocument  # noqa: E402
from prompt_debugger.core.report.wire.form import strict_schema  # noqa: E402
from prompt_debugger.core.report.wire.verification import VerifyRow, VerifySummary  # noqa: E402
from prompt_debugger.core.tools.check.document import CheckDocument  # noqa: E402
from prompt_debugger.core.tools.conversation.documents import ConversationDocument  # noqa: E402
from prompt_debugger.core.tools.experiments.documents import ANSWERS  # noqa: E402
from prompt_debugger.core.tools.fixes.exports import Written  # noqa: E402
from prompt_debugger.core.tools.fixes.margin import TriggerMargin  # noqa: E402
from prompt_debugger.core.tools.fixes.offered import OfferedFix  # noqa: E402
from prompt_debugger.core.tools.fixes.shrink import Shrunk  # noqa: E402
from prompt_debugger.core.tools.fixes.shrink_output import ShrunkOutput  # noqa: E402
from prompt_debugger.core.tools.fixes.trial import UpstreamTest  # noqa: E402
from prompt_debugger.core.tools.fixes.try_fixes import ExperimentDocument  # noqa: E402
from prompt_debugger.core.tools.fixes.upstream_diff import UpstreamDiff  # noqa: E402
from prompt_debugger.core.tools.lab.document import LabDocument  # noqa: E402
from prompt_debugger.core.tools.sessions.document import SessionsDocument  # noqa: E402
from prompt_debugger.core.tools.watch import Alarm, CanaryResult  # noqa: E402
from prompt_debugger.core.tools.watch.counts import WatchDocument  # noqa: E402
from prompt_debugger.ui.cli.capture import CapturedLine, CaptureStarted  # noqa: E402
from prompt_debugger.ui.cli.inspect import Taken  # noqa: E402
from prompt_debugger.ui.cli.lab_environment import LabHomeDocument, LabRemoved  # noqa: E402
from prompt_debugger.ui.cli.watch import WatchStarted  # noqa: E402
from scripts.generated import is_check  # noqa: E402

DOCUMENTS: Mapping[str, type] = {
    "check": CheckDocument,
    "error": ErrorDocument,
    "parse": ParseDocument,
    "render": RenderDocument,
    "run": RunDocument,
    "verify": VerifySummary,
    "verify-row": VerifyRow,
}
OF_FIXES: Mapping[str, type] = {
    "cure": OfferedFix,
    "experiments": ExperimentDocument,
    "shrink": Shrunk,
    "shrink-output": ShrunkOutput,
    "trigger-margin": TriggerMargin,
    "upstream-diff": UpstreamDiff,
    "upstream-test": UpstreamTest,
    "written": Written,
}
OF_COMMANDS: Mapping[str, type] = {
    "capture-exchange": CapturedLine,
    "capture-started": CaptureStarted,
    "inspect": Taken,
    "lab": LabDocument,
    "lab-home": LabHomeDocument,
    "lab-removed": LabRemoved,
    "sessions": SessionsDocument,
    "watch": WatchDocument,
    "watch-alarm": Alarm,
    "watch-canary": CanaryResult,
    "watch-started": WatchStarted,
}
FOLDER = ROOT / "docs" / "schema"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HEX = "^([0-9a-f]{2})*$"
_FIELDS = re.compile(r"^Attributes:\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]{4}(\w[\w, ]*):((?:.*\n?(?:[ ]{8}.*\n?)*))", re.MULTILINE)


def json_schema_of(name: str) -> JSONObject:
    """Return the JSON Schema of a document: `check`, `error`, `parse`, `render`, `run`, `verify` or `verify-row`."""
    return schema_of_class(DOCUMENTS[name])


def schema_of_class(cls: type) -> JSONObject:
    """Return the JSON Schema of what a record or a model is written as.

    Fields may be added at any time, so a schema forbids none.
    """
    schema = TypeAdapter(cls).core_schema if issubclass(cls, BaseModel) else strict_schema(cast("Hashable", cls))
    made = _DescribedSchema(by_alias=True).generate(schema, mode="serialization")
    return cast("JSONObject", {"$schema": _DIALECT, **_open(made)})


def schema_files() -> dict[Path, str]:
    """Return the text of every file by its path."""
    return {
        FOLDER / f"{name}.json": json.dumps(schema_of_class(cls), indent=2, ensure_ascii=False) + "\n"
        for name, cls in {
            **DOCUMENTS,
            **ANSWERS,
            **OF_FIXES,
            **OF_COMMANDS,
            "conversation": ConversationDocument,
        }.items()
    }


def stale_files() -> list[str]:
    """Return the names of files that say something else than the program, or are of none."""
    wanted = schema_files()
    stale = [path.name for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    return sorted(stale + [path.name for path in FOLDER.glob("*") if path not in wanted])


class _DescribedSchema(GenerateJsonSchema):
    """Pydantic's own words, and the docstrings'."""

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Describe a record by its docstring, and its fields by theirs."""
        reported = super().dataclass_schema(schema)
        first, fields = _read_docstring(schema["cls"])
        reported["description"] = first
        aliases = {field.name: field.metadata.get("alias", field.name) for field in dataclasses.fields(schema["cls"])}
        for name, words in fields.items():
            field = reported["properties"].get(aliases.get(name, name))
            if field is not None:
                field["description"] = words
        return reported

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Describe a model likewise."""
        reported = super().model_schema(schema)
        cls = cast("type[BaseModel]", schema["cls"])
        first, fields = _read_docstring(cls)
        reported["description"] = first
        for name, field in cls.model_fields.items():
            reported["properties"][field.serialization_alias or name]["description"] = fields[name]
        return reported

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Describe bytes as the hex text that they are."""
        return {"type": "string", "pattern": _HEX}

    def field_title_should_be_set(self, schema: object) -> bool:
        """Leave titles out: they repeat the names."""
        return False

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: FBT001  # as pydantic calls it
    ) -> bool:
        """Require what is always there: all but the fields that may be left out."""
        return "serialization_exclude_if" not in field

    def ser_schema(self, schema: CoreSchema) -> JsonSchemaValue | None:
        """Describe what is written by what is read: our own functions change no shape."""
        return None


def _read_docstring(cls: type) -> tuple[str, dict[str, str]]:
    """Return the first sentence of a record's docstring, and what it and its bases say of each field."""
    words: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        found = _FIELDS.search(inspect.cleandoc(one.__doc__ or "") + "\n")
        for match in _FIELD.finditer(found.group(1) if found else ""):
            words.update(
                dict.fromkeys(match.group(1).split(", "), " ".join(match.group(2).split()).replace("`None`", "`null`"))
            )
    return inspect.cleandoc(cls.__doc__ or "").split("\n")[0], words


def _open(schema: object) -> dict[str, object]:
    return cast("dict[str, object]", _opened(schema))


def _opened(node: object) -> object:
    """Return a schema that forbids no further fields."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _opened(item) for key, item in node.items() if key != "additionalProperties" or item is not False}


def main(arguments: list[str]) -> int:
    """Write the files, or say which are stale."""
    if is_check(__doc__, arguments):
        stale = stale_files()
        print("\n".join(stale) or "up to date")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for path, text in schema_files().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
