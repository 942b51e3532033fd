# ruff: noqa: E501  # a line break in a template is part of what is tested
"""Ten templates that use Jinja as no one should, one group of its features each.

They are written for one conversation, whose values are made to be awkward: quotes, whitespace at the ends,
a boolean, a null and two equal numbers in the arguments of a call.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON

MESSAGES: JSON = [
    {"role": "system", "content": "  Be <b>kind</b>. "},
    {"role": "user", "content": "First line\nSecond 'line'\tthird, fourth", "name": "ann"},
    {
        "role": "assistant",
        "content": "<think>hmm</think> ok",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "arguments": {
                        "city": 'São "Paulo"',
                        "days": 2,
                        "exact": True,
                        "sure": True,
                        "note": None,
                        "ratio": 1.5,
                        "tags": ["a", "b", {"k": "v"}],
                    },
                },
            }
        ],
    },
    {"role": "tool", "content": '{"t": 21}', "tool_call_id": "c1"},
    {"role": "user", "content": "Thanks & bye straße"},
]
TOOLS: JSON = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": 'Look up "x".',
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "default": 3},
                    "unit": {"type": ["string", "null"], "enum": ["c", "f", None]},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "alpha", "description": "D", "parameters": {"type": "object", "properties": {}}},
    },
]

FEATURES: dict[str, str] = {
    "macros": r"""
{%- macro show(m, mark='d') -%}<{{ m.role }}{{ mark }}{{ caller(m.role, loop_depth) if caller }}>{%- endmacro -%}
{%- macro rest() -%}{{ varargs | join(',') }}{{ kwargs | tojson }}{{ kwargs.a }}{%- endmacro -%}
{%- macro deep(d, n) -%}
{%- if d is mapping -%}{% for k, v in d.items() %}{{ '  ' * n }}{{ k }}: {{ deep(v, n + 1) }}{% endfor %}
{%- elif d is iterable and d is not string -%}{% for v in d %}{{ deep(v, n + 1) }}{% endfor %}
{%- else -%}{{ d }}{%- endif -%}
{%- endmacro -%}
{{ show(messages[0]) }}{% call(r, n) show(messages[1], mark='z') %}in{{ r }}{{ messages[0].content }}{% endcall %}
{{ rest(messages[0].role, messages[1].content, a=messages[1].role) }}{{ deep(messages[2].tool_calls[0], 0) }}
""",
    "loops": r"""
{%- for m in messages recursive -%}
{{ m.role }}{{ loop(m.tool_calls) if m.tool_calls }}{{ m.function.name if m.function }}
{%- endfor -%}
{%- for m in messages -%}
{{ loop.cycle('odd', 'even') }}{% if loop.changed(m.role) %}{{ m.role }}{% endif %}
{{ loop.previtem.role if loop.previtem }}{{ loop.nextitem.content if not loop.last }}{{ loop.revindex }}
{%- if loop.index > 3 %}{% break %}{% endif %}{% continue %}never
{%- endfor -%}
{%- for m in messages if m.role == 'user' -%}{{ m['content'] }}{% else %}none{% endfor -%}
{%- for m in messages[::-1] -%}{{ m.content }}{% endfor -%}
{%- for i in range(messages | length) -%}{{ messages[i].role }}{% endfor -%}
{%- for k, v in messages[2].tool_calls[0].function.arguments.items() -%}
<p={{ k }}>{{ v if v is string else v | tojson }}|{{ v | tojson if v is mapping else v | string }}|{{ v ~ '' }}</p>
{%- endfor -%}
""",
    "namespaces": r"""
{%- set ns = namespace(text='', count=0, roles=[], seen=false) -%}
{%- for m in messages -%}
{%- set ns.text = ns.text + m.content[:6] ~ '/' -%}{%- set ns.count = ns.count + 1 -%}
{%- set ns.roles = ns.roles + [m.role] -%}{%- set ns.seen = ns.seen or m.role == 'tool' -%}
{%- endfor -%}
{{ ns.text }}{{ ns.roles | join(',') }}{{ ns.text | trim('/') | upper }}
{%- set block -%}A{{ messages[1].content }}B{%- endset -%}{{ block }}{{ block | upper }}{{ block | length > 3 }}
{%- set shouted | upper | trim -%} x{{ messages[1].role }}y {%- endset -%}{{ shouted }}
{%- filter replace('i', '[i]') | indent(2) -%}a{{ messages[1].content }}{%- endfilter -%}
{%- with a = messages[1].content, b = messages[0].role -%}{{ a ~ b }}{%- endwith -%}
{%- set role = {'user': 'U', 'assistant': 'A'}.get(messages[1].role, messages[0].role) -%}{{ role }}
""",
    "formats": r"""
{{- '%s is %s' | format(messages[1].role, 2) }}{{ '%-10s|%5d|%05.2f' % (messages[1].role, 7, 1.5) }}
{{ '%(a)s%%' % {'a': messages[1].content} }}{{ "%r" % messages[1].role }}{{ '%.3s' % messages[1].content }}
{{ '{} {:>9}{{x}}'.format(messages[1].role, messages[0].role) }}{{ '{0[role]} {m.role}'.format(messages[1], m=messages[0]) }}
{{ '{name!r:>12}'.format(name=messages[1].name) }}{{ 'a' 'b' }}{{ '\u00e9\x41\n\t\\' }}{{ "it's" ~ 'a "b"' }}
{{ messages[1].role.ljust(8, '.') }}{{ messages[1].role.center(9) }}{{ messages[1].role.zfill(7) }}
{{ bos_token * 2 }}{{ '-' * 3 }}{{ messages[1].role * 2 }}{{ 'ab' * 0 }}
""",
    "strings": r"""
{{- messages[1].content.split('\n')[-1].lstrip('S') }}{{ messages[0].content.strip() }}{{ messages[0].content.rstrip('. ') }}
{{ messages[2].content.split('</think>')[-1].lstrip() }}{{ messages[2].content.split('<think>')[1].split('</think>')[0] }}
{{ messages[1].content.splitlines() | join('//') }}{{ messages[1].content.title() }}{{ messages[4].content.upper() }}
{{ messages[1].content[::-1] }}{{ messages[1].content[2:-3] }}{{ messages[1].content[-3] }}{{ messages[1].content[5:] }}
{{ messages[1].content.replace('i', 'ii', 2) }}{{ messages[1].content | replace('line', 'LINE') }}
{{ messages[1].content.partition('\n')[2] }}{{ messages[1].content.rsplit(',', 1)[1] }}{{ messages[1].content.removeprefix('First') }}
{{ messages[1].content.expandtabs(4) }}{{ messages[1].content.swapcase() }}{{ messages[1].content.translate({105: 'I'}) }}
{{ 'yes' if messages[1].content.startswith('First') else messages[1].content }}{{ messages[1].content.find('Second') > 2 }}
{{ ', '.join(messages | map(attribute='role')) }}{{ messages[1].content | list | join('-') }}
""",
    "sequences": r"""
{{- messages | map(attribute='content') | map('trim') | list | join('\n') }}{{ messages | map(attribute='role') | unique | sort | join('|') }}
{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | first }}{{ (messages | rejectattr('role', 'in', ['user', 'tool']) | list)[0].content }}
{%- for g in messages | groupby('role') %}{{ g.grouper }}:{% for m in g.list %}{{ m.content }},{% endfor %}{% endfor -%}
{%- for m in messages | sort(attribute='role', reverse=true) %}{{ m.role }}{% endfor -%}
{%- for row in messages | batch(2, {'role': 'none'}) %}[{% for m in row %}{{ m.role }}{% endfor %}]{% endfor -%}
{%- for k, v in messages[2].tool_calls[0].function.arguments | dictsort(reverse=true) %}{{ k }}={{ v }};{% endfor -%}
{%- for k, v in messages[1] | items %}{{ k }}={{ v }};{% endfor -%}
{{ messages[1:] | map(attribute='role') | reverse | list | join }}{{ (messages[1:] + messages[:1])[0].content }}
{{ tools | map(attribute='function.name') | list | tojson }}{{ tools | selectattr('function.name', 'equalto', 'alpha') | map(attribute='function.description') | join }}
{{ tools[0].function.parameters.properties.keys() | join(',') }}{{ tools[0].function.parameters.properties.unit.type | join(' | ') }}
""",
    "json": r"""
{{- tools | tojson }}{{ tools | tojson(indent=2) }}{{ tools | tojson(indent=4) | indent(2) }}{{ tools | tojson | upper }}
{{ {'name': tools[0].function.name, 'parameters': tools[0].function.parameters} | tojson }}{{ messages[1].content | tojson | tojson }}
{{ tools[0].function.parameters | tojson | replace('"', "'") }}{{ (tools | tojson)[1:-1] }}{{ messages[1] | tojson(sort_keys=true, separators=(',', ':')) }}
{{ messages[2].tool_calls[0].function.arguments | tojson(ensure_ascii=true) }}{{ ('a' ~ messages[1].content) | tojson }}
{{ tools }}{{ [messages[1].content, "c'd", 'a"b'] }}{{ messages[1].items() | list }}{{ messages | map('tojson') | join('\n') }}
{%- for c in messages[2].tool_calls %}{{ c.function.arguments.exact | tojson }}{{ c.function.arguments.note | string }}{% endfor -%}
""",
    "escapes": r"""
{{- messages[0].content | e }}{{ messages[0].content | escape | upper }}{{ '<x>' | safe }}{{ messages[0].content | safe | forceescape }}
{{ (messages[0].content | e).split('&')[1] }}{{ (messages[0].content | e)[2:9] }}{{ (messages[0].content | safe).replace('b', '<') }}
{{ messages[0].content | urlencode }}{{ messages[0].content | striptags }}{{ messages[1].content | wordwrap(8) }}
{{ messages[1].content | truncate(12) }}{{ messages[1].content | truncate(9, true, '~', 0) }}{{ messages[1].content | capitalize }}
{{ messages[1].content | center(60) }}{{ messages[1].content | pprint }}{{ messages[1] | xmlattr }}
""",
    "tests": r"""
{%- if tools is defined and tools is not none and tools -%}T{{ tools | length }}{%- endif -%}
{%- if messages[0].content is string and messages[1].name is not undefined -%}{{ messages[1].name }}{%- endif -%}
{{ messages[0].nope | default('dd') }}{{ messages[0].nope | default(messages[0].role) }}{{ '' | default(messages[1].role, true) }}
{{ messages[0].get('content') }}{{ messages[0].get('nope', messages[1].role) }}{{ messages[0]['role'] if 'role' in messages[0] }}
{{ (messages | last).content }}{{ messages[1].content | first }}{{ ['b', messages[1].role] | min }}{{ flag }}{{ number + 1 }}{{ flag | lower }}
{{ messages[1].role in ['user', 'tool'] }}{{ not flag }}{{ number is divisibleby 3 }}{{ number }}{{ number | string }}{{ number * 1.5 }}
""",
    "tags": r"""
{%- generation -%}{{ messages[2].content }}{%- endgeneration %}
  {%- if flag %}
    {{- messages[1].content -}}
  {% endif %}
{# a comment {{ messages[0].content }} #}{% raw %}{{ not.this }}{% endraw %}
{{- strftime_now('%Y-%m-%d') ~ messages[1].role }}{{ strftime_now('%B').upper() }}
  {%+ if true %}kept{% endif +%}
{%- if false -%}{{ raise_exception('no') }}{%- endif -%}
{%- set j = joiner(', ') -%}{% for m in messages %}{{ j() }}{{ m.role }}{% endfor -%}
{%- set c = cycler('x', messages[0].role) -%}{{ c.next() }}{{ c.next() }}{{ c.current }}
""",
}
