"""Text that tries to break a page: markup, template code, bidi controls, lone surrogates."""

from hypothesis import strategies as st

HOSTILE = (
    "<script>globalThis.__ran = 1</script>",
    "<img src=x onerror='globalThis.__ran = 1'>",
    "${globalThis.__ran = 1}",
    "{{constructor.constructor('globalThis.__ran = 1')()}}",
    "{{{value}}}",
    "`${globalThis.__ran = 1}`",
    "</style><svg onload=globalThis.__ran=1>",
    "javascript:globalThis.__ran=1",
    "\u202eevil\u202c",
    "\u2066hidden\u2069\u200b",
    "\ud800",
    "\x00\x1b[31m",
    "__proto__",
    "</script><script>globalThis.__ran = 1</script>",
    "中文 العربية 👩‍🚀",
)

hostile_texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(),
    st.text(alphabet=st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010)),
    st.lists(st.sampled_from(HOSTILE), max_size=3).map("".join),
)
