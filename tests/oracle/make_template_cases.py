"""Records what transformers' Jinja environment makes of small templates, for tests/tokenizer/jinja_template_test.c.

    python tests/oracle/make_template_cases.py                      writes tests/tokenizer/fixtures/templates.json
    python tests/oracle/make_template_cases.py --check PROGRAM      compares PROGRAM (oracle-render_templates) with it
    python tests/oracle/make_template_cases.py --random N PROGRAM   compares N random templates, from --seed on

A case is {"template", "variables", "text"}, or "error": true in place of the text where transformers raises.
"""

import argparse
import json
import pathlib
import random
import re
import sys
import warnings

import compare_templates
from transformers.utils.chat_template_utils import _compile_jinja_template
import transformers.utils.chat_template_utils as chat_template_utils

FIXTURE = pathlib.Path(__file__).parent.parent / "tokenizer/fixtures/templates.json"
RECORDED_RANDOM = 400

# What yoke refuses on purpose: integers beyond 64 bits, autoescape, texts of objects.
REFUSED = {
    "{{ 2 ** 64 }}",
    "{{ 10 ** 400 }}",
    "{{ 9223372036854775808 }}",
    "{{ 9223372036854775807 + 1 }}",
    "{{ '12345678901234567890' | int }}",
    "{% for i in l %}{{ loop }}{% break %}{% endfor %}x",
    "{% autoescape true %}{{ '<' }}{% endautoescape %}",
}

VARIABLES = {
    "a": 7,
    "b": -3,
    "f": 2.5,
    "g": 1e16,
    "s": "Hello, World",
    "t": "  pad\tded \n",
    "u": "Grüße, 世界 🙂!",
    "e": "",
    "y": True,
    "n": None,
    "l": [3, 1, 2],
    "w": ["b", "A", "c", "a"],
    "m": [[1, 2], [3], []],
    "d": {"x": 1, "y": "two", "items": [1], "z": None},
    "r": [
        {"role": "user", "content": "hi", "n": 2},
        {"role": "assistant", "content": "ho", "n": 1, "tool": {"name": "f"}},
        {"role": "User", "content": "", "n": 3},
    ],
}

# One feature a line. Texts are expressions unless they contain "{".
EXPRESSIONS = r"""
1 + 2 * 3
2 ** 3 ** 2
-2 ** 2
7 // 2
-7 // 2
7 % 3
-7 % 3
7.5 // 2
-7.5 // 2
7.5 // -2
1 // -4.0
0 // -2.5
1e16 // -3
-1e16 // 3
-7.5 % 2
7 / 2
6 / 2
1 / 0
1 // 0
1 % 0
2 ** -1
2 ** 62
2 ** 64
10 ** 400
9223372036854775807
9223372036854775808
9223372036854775807 + 1
0x1F + 0b11 + 0o17 + 1_000
1.5e3
1e400
007
1.
.5
a + f
a - true
true + true
'a' + 1
'a' ~ 1 ~ none ~ 1.0 ~ true
'a' * 3
3 * 'ab'
'a' * -1
[1] * 2
[1] + [2]
(1,) + (2,)
[1] + (2,)
'x' - 'y'
undefined_thing + 1
undefined_thing ~ 'x'
undefined_thing
undefined_thing.x
undefined_thing['x']
undefined_thing()
undefined_thing | default('d')
d.missing
d.missing.more
d['missing']
d['missing'] is defined
d.missing | default('none', true)
n.x
n['x']
a.x
d.x
d['x']
d.items
d.items()
d.items() | list
d['items']
d.keys() | list
d.values() | list
d.get('x')
d.get('q')
d.get('q', 5)
d.get('q', default=5)
d.pop('x')
d.update({})
d.copy()
l.append(4)
l.index(2)
l.index(9)
l.count(1)
l[0]
l[-1]
l[5]
l[1:]
l[:-1]
l[::-1]
l[::2]
l[5:1:-2]
l[::0]
l[true]
l['0']
l.0
s[0]
s[-1]
s[2:5]
s[::-1]
u[0:4]
u[-3:]
u[::2]
u[::-3]
u | length
u.upper()
u.lower()
u.title()
u.capitalize()
u.swapcase()
'ß'.upper()
'ΣΑΣ'.lower()
's\n\t\\\'"\x41\u00e9\U0001F642\101\q\é'
"it's"
'a' 'b'
'a\
b'
[1, 2.0, -0.0, 1e16, 1e-5, 0.1, 123456789012345678.0, 'a', "it's", 'q"', 'both\'"', none, true, (1,), (), {}, {'k': [1]}]
['\n\t\x00\x7f\u00a0\u200b\u2028é🙂\\']
1.0
100000000000000000000.0
1e15
123456.789
0.0001
0.00001
1e22
-0.0
true
none
{'a': 1, 'b': {'c': [1, 2]}}
{1: 2, 1.0: 3, true: 4}
{[1]: 2}
{'a': 1,}
[1, 2,]
(1, 2,)
()
1 < 2 < 3
1 < 2 > 3
1 == 1.0
1 == true
'a' < 'b'
'a' < 1
[1, 2] < [1, 3]
[1] < (1,)
none < 1
none == none
1 != 2
'ell' in s
'x' not in s
1 in l
'x' in d
'two' in d.values()
1 in none
1 in s
undefined_thing in l
'a' in undefined_thing
not 1
not not e
1 and 2
0 or 'x'
'' and x.y.z
1 if y else 2
1 if e
1 if e else 2 if n else 3
(1 if e) is defined
y is true
a is odd
a is even
a is divisibleby 7
a is divisibleby(2)
a is number
a is integer
f is float
s is string
s is sequence
s is iterable
d is mapping
d is sequence
a is iterable
n is none
n is not none
x is undefined
x is defined
s is lower
'abc' is lower
'ABC' is upper
a is eq 7
a is ne 7
a is lt 8
a is ge(7)
a is in [7]
a is sameas 7
s is callable
range is callable
'upper' is filter
'nope' is filter
'odd' is test
y is boolean
y is integer
y is number
a is nope
a | nope
s | escape
'<a>' | e
'<a>' | e | e
'<a>' | safe
('<a>' | e) + '<'
('<a>' | e) ~ '<'
'<' + ('<a>' | e)
'<a>' | forceescape
'<b>x</b> <!-- c --> y' | striptags
s | upper
s | lower
s | title
'foo-bar (baz) {qux}' | title
s | capitalize
s | length
l | length
d | length
n | length
a | length
x | length
t | trim
t | trim('p \n')
'xxaxx' | trim('x')
s | replace('l', 'L')
s | replace('l', 'L', 1)
a | replace(7, 8)
s | reverse
l | reverse | list
l | reverse | first
l | sort
l | sort(reverse=true)
w | sort
w | sort(case_sensitive=true)
r | sort(attribute='n') | map(attribute='content') | list
r | sort(attribute='role,n') | map(attribute='n') | list
[1, 'a'] | sort
d | dictsort
{'b': 1, 'A': 2} | dictsort
{'b': 1, 'A': 2} | dictsort(true)
{'b': 1, 'a': 2} | dictsort(by='value', reverse=true)
{'b': 1} | dictsort(by='x')
l | first
l | last
[] | first
[] | last
s | first
s | last
d | first
x | first
l | min
l | max
w | min
[] | min
l | sum
r | sum(attribute='n')
m | sum(start=[])
w | join
w | join(', ')
l | join('-')
r | join(', ', attribute='role')
w | map('upper') | list
w | map('upper') | join
r | map(attribute='tool.name') | list
r | map(attribute='tool.name', default='-') | list
r | map(attribute='q', default='-') | list
r | map(attribute='n') | sum
l | map('string') | map('replace', '1', 'x') | list
w | map
w | map('nope') | list
n | map('upper') | list
l | select('odd') | list
l | reject('odd') | list
l | select | list
l | select('gt', 1) | list
l | select('nope') | list
r | selectattr('role', 'equalto', 'user') | list
r | selectattr('tool') | map(attribute='role') | list
r | selectattr('tool', 'defined') | list | length
r | rejectattr('role', 'in', ['user']) | map(attribute='n') | list
r | selectattr('tool.name', 'eq', 'f') | list
r | selectattr('role', '==', 'user') | first
l | select('odd') | length
(l | select('odd'))[0]
(l | map('string')) is iterable
(l | map('string')) is sequence
r | groupby('role') | list
r | groupby('role', case_sensitive=true) | length
(r | groupby('n'))[0].grouper
(r | groupby('n'))[0].list
(r | groupby('n'))[0][0]
r | groupby('tool.name', default='')
['a', 'A', 'b'] | unique | list
['a', 'A', 'b'] | unique(true) | list
[[1]] | unique | list
[1, 2, 3, 4, 5] | batch(2) | list
[1, 2, 3, 4, 5] | batch(2, 0) | list
[1, 2, 3, 4, 5] | batch(0) | list
[1, 2, 3, 4, 5] | batch(-1) | list
[1, 2, 3, 4, 5] | slice(2) | list
[1, 2, 3, 4, 5] | slice(3, 'x') | list
[1, 2, 3] | slice(0) | list
s | list
d | list
a | list
d | items | list
x | items | list
a | items | list
x | default
x | d('q')
e | default('q')
e | default('q', true)
e | default('q', boolean=true)
a | string
'42' | int
'4x' | int
'4x' | int(9)
'0x1f' | int(base=16)
'0x1f' | int(0, 0)
'ff' | int(0, 16)
' 42 ' | int
'4_2' | int
'-5' | int
'3.9' | int
3.9 | int
-3.9 | int
n | int
l | int(5)
x | int
'1e3' | int
'12345678901234567890' | int
'1.5' | float
'x' | float
'x' | float(1.0)
'inf' | float
'nan' | float
a | float
n | float
a | abs
b | abs
f | abs
s | abs
2.5 | round
3.5 | round
2.567 | round(2)
2.567 | round(2, 'floor')
2.567 | round(1, 'ceil')
25 | round(-1)
35 | round(-1)
25 | round
2.5 | round(0, 'nope')
1234.5 | round(-2)
's' | round
'%s-%d' | format('a', 3)
'%(x)s' | format(x=1)
'%s %s' % ('a', 1)
'%s' % 'a'
'%s' % [1]
'%d%%' % 5
'%5d|%-5d|%05d|%+d' % (1, 2, 3, 4)
'%.2f|%8.3f|%e|%g' % (1.5, 2.25, 12345.678, 0.0001)
'%x %X %o %#x' % (255, 255, 8, 255)
'%c%c' % ('a', 66)
'%r' % 'a'
'%(a)s %(b)d' % {'a': 1, 'b': 2}
'%s' % ()
'%s %s' % 1
'a' % 1
'%d' % 'x'
'%q' % 1
'%5s|%-5s|%.2s' % ('ab', 'ab', 'abc')
'{} {}'.format(1, 'a')
'{0} {1} {0}'.format(1, 2)
'{a} {b}'.format(a=1, b=2)
'{:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:,}'.format('a', 'b', 'c', 42, 1.5, 1234567)
'{0[x]} {0.x}'.format(d)
'{!r}'.format('a')
'{{}}'.format()
'{}'.format()
'{} {0}'.format(1)
'{:*^9}'.format('é')
'{:x} {:b} {:e} {:%}'.format(255, 5, 1234.5, 0.25)
'{:s}'.format(1)
'{:d}'.format('a')
s | center(20)
'ab' | center(5)
'abc' | center(6)
'a\nb\n\nc' | indent
'a\nb\n\nc' | indent(2, true)
'a\nb\n\nc' | indent(2, blank=true)
'a\nb' | indent('> ')
'a\nb\n' | indent
'' | indent
5 | indent
'foo bar baz qux' | truncate(9)
'foo bar baz qux' | truncate(9, true)
'foo bar baz qux' | truncate(11)
'foo bar baz qux' | truncate(11, leeway=0)
'foo bar baz qux' | truncate(9, end='!')
'foo bar' | truncate(1)
'foo bar-baz über 1' | wordcount
'a b/c?ü' | urlencode
{'a': 1, 'b': 'x y'} | urlencode
1000 | filesizeformat
1 | filesizeformat
999 | filesizeformat
1500000 | filesizeformat
1536 | filesizeformat(true)
d | attr('x')
s | attr('upper')
d | tojson
r | tojson
r | tojson(indent=2)
{'b': 1, 'a': [1, {'c': none}], 'e': {}, 'f': []} | tojson(indent=4)
{'b': 1, 'a': 2} | tojson(sort_keys=true)
{'b': 1, 'a': 2} | tojson(separators=(',', ':'))
{'b': 1, 'a': 2} | tojson(indent=1, separators=(',', ':'))
u | tojson
u | tojson(ensure_ascii=true)
'<>&\'"\\/\n\r\t\b\f\x01\x7f\u2028' | tojson
'<>&\'"\x7f' | tojson(ensure_ascii=true)
[1, 1.0, 1e16, 1e-7, true, none, 'nan' | float, 'inf' | float] | tojson
{1: 2, none: 3, true: 4, 1.5: 5} | tojson
{(1, 2): 3} | tojson
(1, 2) | tojson
x | tojson
range(3) | tojson
d.keys() | tojson
{'b': 1, 1: 2} | tojson(sort_keys=true)
d | tojson(indent='--')
d | tojson(indent=0)
t.strip()
t.lstrip()
t.rstrip()
'xxaxyx'.strip('xy')
'xxaxx'.lstrip('x')
s.split()
s.split(', ')
s.split('l', 1)
s.rsplit('l', 1)
' a  b c '.split(none, 1)
' a  b c '.rsplit(none, 1)
' a  b c '.split(maxsplit=1)
s.split('')
'a,b,,c'.split(',')
'a\nb\r\nc\u2028d\x0be'.splitlines()
'a\nb\n'.splitlines(true)
s.startswith('He')
s.startswith(('x', 'H'))
s.startswith('l', 2)
s.endswith('ld')
s.endswith(['ld'])
s.find('o')
s.find('o', 5)
s.find('zz')
u.find('世')
s.rfind('o')
s.index('zz')
s.count('l')
s.count('')
s.replace('l', '')
s.replace('', '-')
s.replace('', '-', 2)
s.replace('l', 'L', 1)
s.replace('l')
s.upper()
s.removeprefix('Hel')
s.removesuffix('ld')
s.partition(', ')
s.rpartition('o')
s.partition('zz')
s.rpartition('zz')
'-'.join(w)
'-'.join(l)
'7'.zfill(3)
'-7'.zfill(4)
'ab'.ljust(4) ~ '|'
'ab'.rjust(4, '.')
'ab'.center(5, '.')
'12'.isdigit()
'1a'.isalnum()
'ab'.isalpha()
''.isalpha()
'²'.isdigit()
'²'.isdecimal()
'AB1'.isupper()
'ab1'.islower()
' \t'.isspace()
'a b'.title()
"they're bill's".title()
s.nope
s.nope()
s.__class__
s.upper
range(3) | list
range(1, 10, 3) | list
range(5, 0, -2) | list
range(3)
range(0)
range(3)[1]
range(10)[2:5] | list
range(3)[::2]
range(9)[::-2]
range(1, 9, 2)[1:]
range(100001) | list
range(1, 2, 0)
5 in range(10)
dict(a=1, b=2)
dict([('a', 1)])
dict({'a': 1}, b=2)
dict(1)
namespace(a=1).a
namespace(a=1).b
namespace({'a': 1}).a
namespace(_a=1).a
joiner()
lipsum
raise_exception('no ' + s)
raise_exception()
strftime_now('%Y-%m-%d %H:%M')
strftime_now('%d %b %Y, %A %j %-d')
strftime_now('')
strftime_now(1)
l | map('upper') | list | length
[l, l][1][2]
{'a': {'b': 3}}.a.b
{'a': {'b': 3}}['a']['b']
(1, 2)[0]
'abc'[1]
'a' if true else 'b' ~ 'c'
1 if true else 2 + 3
not 1 == 2
not y and n
1 + 1 ~ 2
1 ~ 2 * 3
-a | abs
-f
+a
--a
- s
a is not odd and y
a is odd == true
(a is odd) == true
l | length > 2
l | length + 1
's' in d and 'x' in d
a in l or a in [7]
[x for x in l]
lambda: 1
a = 1
a b
a,
1, 2
(
)
[1
{'a'}
a.
a..b
a[
a[]
a[1,2]
d[1:2]
f(1
s | 
s is
s is not
s.upper(
'abc
@
a ! b
a && b
a $ b
d.x.y.z
loop
true.x
s.upper().lower()[0:2] | upper
f(*l)
range(*[1, 4]) | list
dict(**{'a': 1})
dict(**1)
dict(a=1, **{'a': 2})
range(1, *[4]) | list
s.split(*[', ']) | tojson(**{'indent': 1})
s.replace(*['l'], **{})
range(n=3)
s.strip(chars='x')
4611686018427387904 % (-9223372036854775807-1)
(-9223372036854775807-1) % -1
'ab'.ljust(-9223372036854775807-1)
'ab'.rjust(-9223372036854775807-1, '.')
'ab'.center(9, '.')
'ab' | center(-9223372036854775807-1)
'é'.ljust(4, 'ü') ~ 'é'.rjust(4, 'ü') ~ 'é'.center(4, 'ü')
range(0, 10, 9223372036854775807)[::2] | list
range(0, 10, 9223372036854775807)[1:] | list
range(-9223372036854775807, 9223372036854775807, 4611686018427387904) | list
range(-9223372036854775807, 9223372036854775807, 4611686018427387904)[3]
'ßΣİǅ ŉ'.casefold()
'一二'.isnumeric()
'一二'.isdigit()
'⓪①'.isdigit()
'⓪'.isdecimal()
'Ⅷ'.isupper()
'ⓐª'.islower()
'Ⅷⓐa'.swapcase()
'Ⅷⓐ Ⅷ'.title()
'Ⅷ' is upper
'aǅ'.islower()
('<a>' | e | list)[0] + '<'
('<a>' | e)[1] + '<'
('<a>' | e)[::2] + '<'
('<a>' | e | first) + '<'
'<!-- <b>x</b>' | striptags
'<!-- <b> --> x <i' | striptags
'a < b > c <!----> d <!--> e' | striptags
[1.0, 100.0, 1e15, 123456789012345.0, 5e-324, 2.5e-310, 1.7976931348623157e308, 0.1, 1234567890123456.7, 1e-7]
1e308 | round(2)
9007199254740993.0 | round(1)
"""

TEMPLATES = r"""
a{% if y %} b{% endif %} c
x{% if e %}1{% elif n %}2{% else %}3{% endif %}y
  {% if y %}\n  a\n  {% endif %}\nb
  {%- if y -%}\n  a\n  {%- endif -%}\nb
  {%+ if y %}a{% endif +%}\n b
a {{- 1 -}} b
a {{ 1 }}\n b
{{ 1 }}\n{{ 2 }}\n\n
a\n\n
\na
{# c #}\na{#- c -#} b {# {{ x }} #}
 {# c #} a
a {#+ c +#}\nb
{% raw %}{{ a }}{% x %}{% endraw %}!
a {%- raw -%} {{ a }} {%- endraw -%} b
  {% raw %}\n{{ a }}\n  {% endraw %}\nb
{% raw %}
{{ 1 }
{% if %}{% endif %}
{% if y %}
{% endif %}
{% nope %}
{% for %}{% endfor %}
{% for i in l %}{{ i }}{% endfor %}
{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}
{% for i in l %}{{ loop.previtem }}-{{ loop.nextitem }} {% endfor %}
{% for i in l %}{{ loop.previtem is defined }} {% endfor %}
{% for i in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(i > 1) }}{% endfor %}
{% for i in l %}{{ loop.depth }}{{ loop.depth0 }}{{ loop.nope }}{% endfor %}
{% for i in [] %}a{% else %}b{% endfor %}
{% for i in undefined_thing %}a{% else %}b{% endfor %}
{% for i in n %}a{% endfor %}
{% for i in 5 %}a{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
{% for k in d %}{{ k }}{% endfor %}
{% for k, v in l %}{{ k }}{% endfor %}
{% for (k, v) in d.items() %}{{ k }}{% endfor %}
{% for c in u %}{{ c }}|{% endfor %}
{% for i in l if i > 1 %}{{ i }}{{ loop.index }}{{ loop.last }}{{ loop.length }}{% else %}none{% endfor %}
{% for i in l if i > 9 %}{{ i }}{% else %}none{% endfor %}
{% for i in l if loop %}{{ i }}{% endfor %}
{% set ns = namespace(x=2) %}{% for i in l if i >= ns.x %}{{ i }}{% set ns.x = 1 %}{% endfor %}
{% set ns = namespace(x=2) %}{% for i in [1, 2, 3, 1] if i >= ns.x %}{{ i }}{{ loop.last }}{% set ns.x = 1 %}{% endfor %}
{% for i in m recursive %}[{% if i is iterable %}{{ loop(i) }}{% else %}{{ i }}{{ loop.depth }}{% endif %}]{% endfor %}
{% for i in m %}{{ loop(i) }}{% endfor %}
{% for i in [[[1]], 2] recursive %}{{ loop.depth0 }}{% if i is sequence %}{{ loop(i) }}{% endif %}{% endfor %}
{% for i in l %}{% for j in l %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}
{% for i in l %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}
{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% else %}no{% endfor %}
{% for i in l %}{% for j in l %}{% if j == 1 %}{% break %}{% endif %}{{ j }}{% endfor %}{{ i }}{% endfor %}
{% for i in [1] %}{% break %}{% else %}E{% endfor %}
{% for i in [1, 2] %}{{ i }}{% continue %}{% else %}E{% endfor %}
{% for i in l %}{% if i == 3 %}{% continue %}{% endif %}{{ i }}{% else %}E{% endfor %}
{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{% continue %}{% else %}E{% endfor %}
{% for i in l if i > 1 %}{{ i }}{% break %}{% else %}E{% endfor %}
{% for i in [[1], [2]] recursive %}{{ i }}{% if i is sequence %}{{ loop(i) }}{% endif %}{% continue %}{% else %}E{% endfor %}
{% for i in l %}{% for j in l %}{% break %}{% else %}inner{% endfor %}{% else %}outer{% endfor %}
{% break %}
{% for i in l %}{% macro q() %}{% break %}{% endmacro %}{% endfor %}
{% for i in l %}{% set z %}{{ i }}{% if i == 1 %}{% break %}{% endif %}{% endset %}{{ z }}{% endfor %}
{% for loop in l %}{% endfor %}
{% for i in l %}{% set x = i %}{% endfor %}{{ x }}
{% set x = 0 %}{% for i in l %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}
{% set ns = namespace(x=0) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}
{% set ns = namespace() %}{% set ns.a, b = 1, 2 %}{{ ns.a }}{{ b }}
{% set ns = namespace(a=[1]) %}{% set ns.a = ns.a + [2] %}{{ ns.a }}{{ ns }}
{% set d.x = 1 %}
{% set q.x = 1 %}
{% set ns = namespace() %}{% set ns._x = 1 %}
{% set x, y = 1, 2 %}{{ x }}{{ y }}
{% set x, y = 1 %}
{% set (x, y) = [1, 2] %}{{ x + y }}
{% set x = 1, 2 %}{{ x }}
{% set x = %}
{% set 1 = 2 %}
{% set x %}a{{ 1 }}b{% endset %}{{ x }}{{ x | length }}
{% set x | upper | trim %} a{{ 1 }}b {% endset %}[{{ x }}]
{% set a = a + 1 %}{{ a }}
{% if y %}{% set q = 1 %}{% endif %}{{ q }}
{% if e %}{% set q = 1 %}{% endif %}{{ q is defined }}
{% with q = 1, p = 2 %}{{ q + p }}{% endwith %}{{ q }}
{% with q = 1, p = q %}{{ p }}{% endwith %}
{% with %}{% set q = 1 %}{% endwith %}{{ q is defined }}
{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(1) }}{{ f('a') | upper }}
{% macro f(x, y=2, z=x) %}{{ x }}{{ y }}{{ z }}{% endmacro %}{{ f(1) }} {{ f(1, z=3) }} {{ f(y=5, x=4) }} {{ f() }}
{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1, 2) }}
{% macro f(x) %}{{ x }}{% endmacro %}{{ f(q=2) }}
{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1, x=2) }}
{% macro f(x) %}{{ x }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, q=4) }}{{ f() }}
{% macro f(x=1, y) %}{% endmacro %}
{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}in{{ a }}{% endcall %}
{% macro f() %}{{ caller(1, 2) }}{% endmacro %}{% call(p, q) f() %}{{ p }}{{ q }}{% endcall %}
{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}
{% macro f() %}x{% endmacro %}{% call f() %}in{% endcall %}
{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}
{% call a %}{% endcall %}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}
{% macro f() %}{{ a }}{% endmacro %}{% set a = 'later' %}{{ f() }}
{% macro q() %}{{ a }}{% endmacro %}{{ q() }}{% set a = 1 %}{{ q() }}
{% macro q() %}{{ a }}{% endmacro %}{{ q() }}{% if y %}{% set a = 1 %}{% endif %}{{ q() }}
{% for i in [1] %}{{ a }}{{ range is defined }}{% endfor %}{% set a = 1 %}{% set range = 2 %}
{% for i in [1] %}{{ a }}{% endfor %}{{ a }}{% set a = 1 %}
{% with %}{{ f | default('none') }}{% endwith %}{% macro f() %}{% endmacro %}
{% with %}{{ s }}{% endwith %}{% set s %}x{% endset %}
{% with %}{{ s }}{{ a }}{% endwith %}{% set s, a = 'x', 1 %}
{% macro f() %}{{ q }}{% endmacro %}{% for q in l %}{{ f() }}{% endfor %}
{% for q in l %}{% macro f() %}{{ q }}{% endmacro %}{{ f() }}{% endfor %}
{% macro f() %}{% set q = 1 %}{% endmacro %}{{ f() }}{{ q is defined }}
{% macro f(x) %}\n  {{ x }}\n{% endmacro %}\n[{{ f(1) }}]
{% macro f(x) -%}\n  {{ x }}\n{%- endmacro %}\n[{{ f(1) }}]
{{ f(1) }}{% macro f(x) %}{{ x }}{% endmacro %}
{% macro f(x) %}{{ x }}{% endmacro %}{{ f }}{{ [f] }}
{% macro f() %}{{ caller }}{% endmacro %}{% call f() %}{% endcall %}
{% if e %}{% macro f(x) %}{{ x }}{% endmacro %}{% endif %}{{ f is defined }}
{% filter upper %}a{{ s }}{% endfilter %}
{% filter replace('a', 'b') | upper %}aXa{% endfilter %}
{% filter nope %}{% endfilter %}
{% if e %}{{ 1 | nope }}{% endif %}ok
{% if e %}{{ 1 is nope }}{% endif %}ok
{% if y %}{{ 1 | nope }}{% endif %}ok
{% if e %}{% for i in l %}{{ 1 | nope }}{% endfor %}{% endif %}ok
{{ (1 | nope) if e else 2 }}
{% for i in [] %}{{ 1 | nope }}{% endfor %}
a{% generation %}b{{ a }}{% endgeneration %}c
{% for i in l %}{{ i }}{% generation %}<{{ i }}é>{% endgeneration %}\n{% endfor %}
{% for i in l %}{% generation %}{% set q = i %}{% endgeneration %}{{ q is defined }}{% endfor %}
{% generation %}
{% generation %}{% break %}{% endgeneration %}
{% block b %}x{{ a }}{% endblock %}
{% block b %}{% set q = 1 %}{% endblock %}{{ q is defined }}
{% for i in l %}{% block b %}{{ i }}{% endblock %}{% endfor %}
{% for i in l %}{% block b scoped %}{{ i }}{% endblock %}{% endfor %}
{% block b %}1{% endblock b %}{% block b %}2{% endblock %}
{% print a, s %}
{% include 'x' %}
{% import 'x' as y %}
{% from 'x' import y %}
{% extends 'x' %}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.reset() }}{{ c.current }}
{% set j = joiner('; ') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}
{% set it = l | map('string') %}{{ it | list }}{{ it | list }}
{% set it = l | reverse %}{% for i in it %}{{ i }}{% endfor %}{{ it | list }}
{% set it = d | items %}{% for k, v in it %}{{ k }}{% endfor %}{{ it | list }}
{% set it = l | select('odd') %}{% for i in it %}{{ i }}{{ loop.length }}{{ loop.last }}{% endfor %}
{{ l | map('string') | first }}{{ l | select('gt', 5) | first }}
{% for i in range(3) %}{{ i }}{% endfor %}
{% for i in 'ab', 'c' %}{{ i }}{% endfor %}
{% for i in l | sort %}{{ i }}{% endfor %}
{% for i in l + [4] %}{{ i }}{% endfor %}
{% for i in (l if y else []) %}{{ i }}{% endfor %}
{% for i in l if y else [] %}{{ i }}{% endfor %}
{% if 1, 2 %}t{% endif %}
{% if a == 7 and s.startswith('H') or x.y %}t{% endif %}
{% if not y is false %}t{% endif %}
{{ a }}{{ '{{' }}{% raw %}}}{% endraw %}
{{ '%}' }}{{ "#}" }}
{% if '%}' == '%' ~ '}' %}t{% endif %}
{{ {'a': {'b': 1}} }}
{{ {'a': {'b': 1}}['a']['b'] }}
{{-5}}
{{- 5 -}}   x
a\r\nb\rc{{ 'x\ny' }}
{% set x = 'a
b' %}{{ x }}
{{ a
 + 1 }}
{% for m in r %}{{ m.role }}: {{ m['content'] }}{{ m.tool.name if m.tool is defined }}\n{% endfor %}
{% for m in r %}{{ m.tool.name }}{% endfor %}
{% for m in r -%}\n  {{ m.role }}\n{%- endfor %}
{% for m in r | selectattr('tool') %}{{ m.tool | tojson(indent=2) }}{% endfor %}
{% set first = r | first %}{{ first.role }}{% set rest = r[1:] %}{{ rest | length }}
{% set q = r[0]['content'] %}{{ q.split('h')[-1] }}
{%- set q -%} x {%- endset -%} [{{ q }}]
{% if y %}a{% else %}b{% endif %}{% if e %}{% else %}c{% endif %}
{% else %}
{% endfor %}
{% for i in l %}{% endif %}
{%if y%}a{%endif%}
{{a}}{{s|upper}}
{{ a }} {# unclosed
{% for i in l %}{{ loop }}{% break %}{% endfor %}x
{% set x = l | map('upper') %}{{ x }}
{% autoescape true %}{{ '<' }}{% endautoescape %}
{% do l.append(1) %}
{{ loop is defined }}{% for i in [1] %}{{ loop is defined }}{% endfor %}
{% set loop = 1 %}{{ loop }}
{% for i in [1] %}{% set loop = 5 %}{{ loop }}{% endfor %}
{% for a in l %}{{ a }}{% endfor %}{{ a }}
{% for a in [1] %}{% for a in [2] %}{{ a }}{% endfor %}{{ a }}{% endfor %}{{ a }}
{% set s = s | replace('l', '') %}{{ s }}{% set s = s[1:] %}{{ s }}
{% set messages = [{'role': 'x'}] + r %}{{ messages | length }}{{ messages[0] }}
{% macro f(x) %}{% for i in x %}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}{% endmacro %}{{ f(l) }}{{ f([]) }}
{% macro g(x) %}{{ x ~ '!' }}{% endmacro %}{% macro f(x) %}{{ g(x) }}{% endmacro %}{{ f(1) }}
{% macro f(x) %}{% generation %}{{ x }}{% endgeneration %}{% endmacro %}ab{{ f('é') }}cd
"""


def transformers_answer(template, variables):
    """The text, or an exception's name. Python has a limit of its own for nested calls."""
    tracked = []
    if template in REFUSED:
        return {"error": "refused"}
    try:
        compiled = _compile_jinja_template(template)
        blocks = []
        with compiled.environment.activate_tracker(blocks, tracked):
            for block in compiled.generate(**json.loads(json.dumps(variables))):
                blocks.append(block)
        text = "".join(blocks)
        text.encode()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    if " object at 0x" in text or "<function" in text or " at 0x" in text:
        return {"error": "the text has an address of memory"}
    spans = [[len(text[:begin].encode()), len(text[:end].encode())] for begin, end in tracked]
    return {"text": text, "generations": spans}


def written_templates():
    for line in EXPRESSIONS.strip("\n").split("\n"):
        yield "{{ " + line + " }}"
    pending = None
    for line in TEMPLATES.strip("\n").split("\n"):
        line = line if pending is None else pending + "\n" + line
        # A template goes on in the next line where a string or a tag is open.
        pending = line if line.endswith(("'a", "{{ a")) else None
        if pending is None:
            yield line.replace("\\n", "\n").replace("\\r", "\r") if "'x\\ny'" not in line else line.replace("\\r", "\r")


class Generator:
    """Makes random expressions and templates that mostly are valid."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    LEAVES = {
        "text": ["s", "t", "u", "e", "'a'", "'l'", "'ab c'", "'é🙂'", "''", "'x\\n  y'", "d.y", "r[0].role", "'<b>'"],
        "number": ["a", "b", "f", "0", "1", "2", "-1", "3.5", "10", "d.x", "l[0]", "true", "g"],
        "list": ["l", "w", "m", "r", "[]", "[1, 2, 3]", "('a', 1)", "[none, '']", "w[:2]", "s", "range(3)"],
        "dict": ["d", "r[0]", "r[1]", "{}", "{'k': 1, 2: 'v'}", "dict(b=1, A=2)"],
        "bool": ["y", "n", "true", "false", "none", "missing", "e"],
    }

    # What an expression of a kind consists of; the names of kinds in it stand for operands. Alternatives are separated
    # by bars without spaces.
    PATTERNS = {
        "text": """
            TEXT + TEXT|TEXT ~ ANY|ANY ~ ANY|TEXT * 2|TEXT[0]|TEXT[-1]|TEXT[1:]|TEXT[:-1]|TEXT[::-1]|TEXT.upper()
            TEXT.lower()|TEXT.title()|TEXT.strip()|TEXT.strip(TEXT)|TEXT.rstrip()|TEXT.capitalize()|TEXT.replace(TEXT, TEXT)
            TEXT.removeprefix(TEXT)|TEXT.zfill(5)|TEXT.center(9)|TEXT.swapcase()|TEXT.ljust(7)|TEXT.join(w)
            '{}-{}'.format(ANY, ANY)|'%s' % (ANY,)|'%s/%d' % (ANY, NUMBER)|'{:>6}'.format(TEXT)|ANY | string|ANY | upper
            ANY | lower|ANY | trim|LIST | join|LIST | join(TEXT)|ANY | tojson|ANY | tojson(indent=2)|TEXT | title
            ANY | tojson(sort_keys=true)|TEXT | capitalize|TEXT | indent(2)|TEXT | truncate(8)|TEXT | e|TEXT | center(12)
            TEXT | replace(TEXT, TEXT)|LIST | map('string') | join('/')|TEXT | striptags|TEXT | urlencode|TEXT or TEXT
            (TEXT if BOOL else TEXT)|TEXT and TEXT|ANY | default(TEXT)|DICT | tojson(ensure_ascii=true)|TEXT[NUMBER:NUMBER]
        """,
        "number": """
            NUMBER + NUMBER|NUMBER - NUMBER|NUMBER * NUMBER|NUMBER / NUMBER|NUMBER // NUMBER|NUMBER % NUMBER|NUMBER ** 2
            -NUMBER|LIST | length|TEXT | length|ANY | int|ANY | float|NUMBER | abs|NUMBER | round|NUMBER | round(1)
            TEXT.find(TEXT)|TEXT.count(TEXT)|l | sum|l | min|l | max|TEXT | wordcount|r | sum(attribute='n')|DICT | length
            (NUMBER if BOOL else NUMBER)|LIST | count|TEXT.rfind(TEXT)|l.index(1)|w.count(TEXT)
        """,
        "list": """
            LIST[1:]|LIST[:-1]|LIST[::-1]|LIST[::2]|LIST | list|LIST | reverse | list|w | sort|l | sort(reverse=true)
            [ANY, ANY]|(ANY, ANY)|LIST | unique | list|w | map('upper') | list|r | map(attribute='role') | list
            LIST | select | list|LIST | reject | list|r | selectattr('role', 'eq', TEXT) | list|r | selectattr('tool') | list
            LIST | batch(2) | list|LIST | slice(2) | list|TEXT.split()|TEXT.split(TEXT)|TEXT.split(TEXT, 1)
            TEXT.rsplit(TEXT, 1)|TEXT.splitlines()|TEXT.partition(TEXT)|DICT | items | list|DICT.items() | list
            DICT.values() | list|DICT | list|d | dictsort|LIST | map('default', ANY) | list|r | groupby('n')
            r | sort(attribute='n')|r | map(attribute='tool', default=TEXT) | list|l + l|[ANY] * 2|range(3) | list
            LIST | select('string') | list|l | select('gt', NUMBER) | list|(LIST if BOOL else LIST)|LIST | map('tojson') | list
            r | rejectattr('tool') | map(attribute='content') | list|LIST | reject('in', LIST) | list|LIST[:NUMBER]
        """,
        "dict": """
            dict(k=ANY)|{'k': ANY, TEXT: ANY}|dict(DICT, q=ANY)|(DICT if BOOL else DICT)|DICT.copy()
        """,
        "bool": """
            ANY == ANY|ANY != ANY|NUMBER < NUMBER|NUMBER <= NUMBER|TEXT < TEXT|TEXT in TEXT|ANY in LIST|TEXT in DICT
            ANY not in LIST|not ANY|ANY is defined|ANY is none|ANY is string|ANY is number|ANY is mapping|ANY is iterable
            ANY is sequence|NUMBER is odd|NUMBER is even|ANY is true|ANY is boolean|TEXT is lower|TEXT is upper
            ANY is eq(ANY)|ANY is in(LIST)|TEXT.startswith(TEXT)|TEXT.endswith(('a', TEXT))|TEXT.isdigit()|TEXT.isalpha()
            TEXT.isupper()|BOOL and BOOL|BOOL or ANY|NUMBER < NUMBER < NUMBER|NUMBER > NUMBER != NUMBER|ANY is not string
            ANY is float|ANY is integer|l < l|TEXT.isspace()
        """,
        "any": """
            TEXT|NUMBER|LIST|DICT|BOOL|ANY or ANY|ANY and ANY|(ANY if BOOL else ANY)|(ANY if BOOL)|LIST | first|LIST | last
            DICT.x|DICT['role']|DICT.get(TEXT)|DICT.get(TEXT, ANY)|LIST[0]|LIST[NUMBER]|ANY | default(ANY, true)|(ANY)
            DICT.missing|namespace(x=ANY).x|w | min|DICT[TEXT]
        """,
    }

    def leaf(self, kind):
        kind = self.pick(*self.LEAVES) if kind == "any" else kind
        return self.pick("i", "q") if self.random.random() < 0.05 else self.pick(*self.LEAVES[kind])

    def expression(self, depth=3, kind="any"):
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(kind)
        patterns = [p for line in self.PATTERNS[kind].split("\n") for p in re.split(r"(?<! )\|(?! )", line.strip()) if p]
        operand = lambda match: self.operand(depth - 1, match.group().lower())
        return re.sub(r"\b(?:TEXT|NUMBER|LIST|DICT|BOOL|ANY)\b", operand, self.pick(*patterns))

    def operand(self, depth, kind):
        text = self.expression(depth, kind if self.random.random() > 0.02 else "any")
        return text if re.fullmatch(r"\w+|'[^']*'", text) else f"({text})"

    def space(self):
        return self.pick("", "", " ", "\n", "  \n", "\n  ", "x ", " y\n")

    def tag(self, words):
        return "{%" + self.pick("", "", "-", "+") + f" {words} " + self.pick("", "", "-", "+") + "%}"

    def template(self, depth=2):
        parts = []
        for _ in range(self.random.randrange(1, 4)):
            parts.append(self.space())
            parts.append(self.statement(depth))
        return "".join(parts) + self.space()

    def statement(self, depth):
        e = lambda kind="any": self.expression(2, kind)
        inner = lambda: self.template(depth - 1)
        kind = self.random.randrange(12) if depth > 0 else 0
        if kind <= 2:
            return "{{" + self.pick("", "-") + f" {self.expression()} " + self.pick("", "-") + "}}"
        if kind == 3:
            return self.tag(f"if {e('bool')}") + inner() + self.tag("else") + inner() + self.tag("endif")
        if kind == 4:
            return self.tag(f"for i in {e('list')}") + inner() + self.tag("endfor")
        if kind == 5:
            loop = self.pick("loop.index", "loop.last", "loop.first", "loop.length", "loop.revindex", "loop.previtem")
            condition = self.pick("", "", f" if {e('bool')}")
            return self.tag(f"for i in {self.pick('l', 'w', 'r', 's', 'm', 'd')}{condition}") + "{{ " + loop + " }}" + inner() + self.tag("endfor")  # fmt: skip
        if kind == 6:
            return self.tag(f"set q = {e()}") + inner()
        if kind == 7:
            return self.tag("set q") + inner() + self.tag("endset") + "{{ q }}"
        if kind == 8:
            return self.tag("macro f(i, q=1)") + inner() + self.tag("endmacro") + "{{ f(" + e() + ") }}"
        if kind == 9:
            return self.tag(f"with q = {e()}") + inner() + self.tag("endwith")
        if kind == 10:
            return self.tag("generation") + inner() + self.tag("endgeneration")
        return self.pick("{# c #}", self.tag("filter upper") + inner() + self.tag("endfilter"))


def random_templates(seed, count):
    for i in range(count):
        generator = Generator(seed + i)
        yield "{{ " + generator.expression(4) + " }}" if i % 2 else generator.template(3)


def same(given, expected):
    given.pop("seconds", None)
    return given == expected or ("error" in given and "error" in expected)


def compare(templates, driver):
    yoke = compare_templates.Yoke(driver)
    count = failed = different = 0
    for template in templates:
        expected = transformers_answer(template, VARIABLES)
        given = yoke.render(template, VARIABLES)
        count += 1
        failed += "error" in expected
        if not same(given, expected):
            different += 1
            print(f"{template!r}\n  expected {expected}\n  given    {given}")
    print(f"{count} templates, of which {failed} raise: {different} differ")
    return different


def record():
    cases = []
    for template in [*written_templates(), *random_templates(1, RECORDED_RANDOM)]:
        answer = transformers_answer(template, VARIABLES)
        case = {"template": template}
        if "error" in answer:
            case["error"] = True
        else:
            case["text"] = answer["text"]
            if answer["generations"]:
                case["generations"] = answer["generations"]
        cases.append(case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    variables = json.dumps(VARIABLES, ensure_ascii=False)
    FIXTURE.write_text(
        f'{{"time": {compare_templates.NOW}, "variables": {variables},\n"cases": [\n{lines}\n]}}\n'
    )
    print(f"{len(cases)} cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="PROGRAM")
    parser.add_argument("--random", nargs=2, metavar=("N", "PROGRAM"))
    parser.add_argument("--seed", type=int, default=100000)
    options = parser.parse_args()
    chat_template_utils.datetime = compare_templates.FixedTime
    warnings.simplefilter("ignore")
    if options.check:
        sys.exit(compare(written_templates(), options.check) > 0)
    if options.random:
        sys.exit(compare(random_templates(options.seed, int(options.random[0])), options.random[1]) > 0)
    record()


if __name__ == "__main__":
    main()
