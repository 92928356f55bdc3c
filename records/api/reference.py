"""The API's schema as the tables of docs/api.md, so that the page cannot say anything else."""

from typing import Any


def reference(schema: dict[str, Any]) -> str:
    """Each operation with its parameters, then each object with its fields."""
    parts = [_operation(path, methods["get"]) for path, methods in schema["paths"].items()]
    objects = schema["components"]["schemas"]
    parts += [_object(name, objects[name]) for name in sorted(objects)]
    return "\n".join(parts)


def _operation(path: str, operation: dict[str, Any]) -> str:
    about = operation.get("description") or operation["summary"]
    answer = operation["responses"][200]["content"]["application/json"]["schema"]
    lines = [f"### GET {path}", "", f"{about} Answers with {_type(answer)}.", ""]
    rows = [_parameter(parameter) for parameter in operation["parameters"]]
    if rows:
        lines += ["| parameter | where | what |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _parameter(parameter: dict[str, Any]) -> str:
    told = parameter["schema"]
    said = [_type(told)]
    said += [f"at most {told['maximum']}"] if "maximum" in told else []
    said += [f"default `{told['default']}`"] if told.get("default") not in (None, "", []) else []
    return f"| `{parameter['name']}` | {parameter['in']} | {', '.join(said)} |"


def _object(name: str, schema: dict[str, Any]) -> str:
    lines = [f"### {name}", "", "| field | what |", "|---|---|"]
    for field, told in schema["properties"].items():
        about = f"; {told['description']}" if "description" in told else ""
        lines.append(f"| `{field}` | {_type(told)}{about} |")
    return "\n".join([*lines, ""])


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type", "anything"))
