"""Classes of pydantic in a snippet: the schema that they stand for, and what nothing is known of."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.request import read_request

_CALL = """
client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], extra_body={"guided_json": X})
"""


def schema_of(classes: str, value: str = "Car.model_json_schema()") -> object:
    return read_request(classes + _CALL.replace("X", value)).body["guided_json"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("str", {"type": "string"}),
        ("int | None", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("Optional[float]", {"anyOf": [{"type": "number"}, {"type": "null"}]}),
        ("List[bool]", {"type": "array", "items": {"type": "boolean"}}),
        ("dict[str, int]", {"type": "object"}),
        ('Literal["a", "b"]', {"enum": ["a", "b"]}),
        ("Annotated[int, Ge(1)]", {"type": "integer"}),
        ('"int"', {"type": "integer"}),
        ("Colour", {"enum": ["red", "blue"]}),
        ("datetime", {}),
        ("conint(ge=1)", {}),
        ("str | Secret", {}),
        ("'no annotation'", {}),
    ],
)
def test_an_annotation_is_read_or_allows_anything(annotation: str, expected: object):
    classes = (
        "class Colour(str, Enum):\n    RED = 'red'\n    BLUE = 'blue'\n"
        f"class Car(BaseModel):\n    model_config: dict = {{}}\n    part: {annotation}\n"
    )

    assert schema_of(classes) == {"type": "object", "properties": {"part": expected}, "required": ["part"]}


def test_defaults_inheritance_and_members_that_are_models():
    classes = (
        "class Base(BaseModel):\n    name: str\n    size: int\n"
        "class Wheel(BaseModel):\n    spokes: int = Field(..., ge=1)\n"
        "class Car(Base):\n    size: int = 3\n    wheel: Wheel\n    tags: list[str] = Field(default_factory=list)\n"
        "    note: str = Field(description='d')\n    _hidden: int\n    many: ClassVar[int] = 3\n"
    )

    schema = schema_of(classes)

    assert isinstance(schema, dict)
    assert list(schema["properties"]) == ["name", "size", "wheel", "tags", "note"]
    assert schema["required"] == ["name", "wheel", "note"]
    assert schema["properties"]["wheel"]["required"] == ["spokes"]
    assert json.loads(str(schema_of(classes, "Car.schema_json()"))) == schema


def test_a_model_as_response_format_is_what_the_client_sends():
    request = read_request(
        "class Car(BaseModel):\n    brand: str\n"
        'client.chat.completions.parse(model="m", messages=[{"role": "user", "content": "hi"}], response_format=Car)'
    )

    form = request.body["response_format"]
    assert isinstance(form, dict)
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["required"] == ["brand"]
    assert any("The schema of `Car` was read from its class" in notice.message for notice in request.notices)


@pytest.mark.parametrize(
    "call",
    ["litellm.responses", "litellm.aresponses", "client.responses.parse", "client.responses.with_raw_response.parse"],
)
@pytest.mark.parametrize("other", ["", 'text={"verbosity": "low"}, '])
def test_a_model_as_text_format_is_the_schema_of_a_responses_body(call: str, other: str):
    request = read_request(
        f'class Car(BaseModel):\n    brand: str\n{call}(model="m", input="hi", {other}text_format=Car)'
    )

    form = as_object(as_object(request.body["response_format"])["json_schema"])
    assert as_object(form["schema"])["required"] == ["brand"]
    assert request.body["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize("call", ["other.responses", "responses", "litellm.responses.list"])
def test_other_calls_of_that_name_send_nothing(call: str):
    with pytest.raises(RequestError):
        read_request(f'{call}(model="m", input="hi")')


def test_names_by_alias_and_models_within_themselves_claim_nothing():
    aliased = "class Car(BaseModel):\n    brand: str = Field(alias='Brand')\n"
    looped = "class Car(BaseModel):\n    next: Optional['Car'] = None\n"

    assert schema_of(aliased) == {"type": "object"}
    assert isinstance(schema_of(looped), dict)


def test_a_class_that_is_no_model_is_not_read():
    request = read_request(
        "class Car:\n    brand: str\n"
        'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], response_format=Car)'
    )

    assert "response_format" not in request.body


@pytest.mark.parametrize("annotation", ["list[()]", "Annotated[()]", "Union[()]", "Optional[()]"])
def test_a_generic_without_members_allows_anything(annotation: str):
    schema = schema_of(f"class Car(BaseModel):\n    x: {annotation}\n")

    assert schema == {"type": "object", "properties": {"x": {}}, "required": ["x"]}


def test_classes_that_name_each_other_many_times_make_a_schema_that_ends():
    fields = ["".join(f"    f{number}: A{level - 1}\n" for number in range(30)) for level in range(1, 12)]
    classes = "".join(f"class A{level}(BaseModel):\n{lines}" for level, lines in enumerate(fields, 1))
    bases = "".join(f"class B{level}({', '.join([f'B{level - 1}'] * 30)}):\n    y: int\n" for level in range(1, 12))

    found = schema_of(f"class A0(BaseModel):\n    x: int\n{classes}", "A11.model_json_schema()")
    inherited = schema_of(f"class B0(BaseModel):\n    x: int\n{bases}", "B11.model_json_schema()")

    assert len(json.dumps(found)) < 400_000
    assert inherited == {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}} | {
        "required": ["x", "y"]
    }
