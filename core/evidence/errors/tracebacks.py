"""Tracebacks: their frames, the exception that ends them, and those that were copied without their end."""

from __future__ import annotations

import re

from prompt_debugger.core.known_errors import speaker_of

# The name of an exception, before its words.
EXCEPTION = re.compile(
    r"(?m)^[^\w\n]{0,12}(?:(?:Error|ERROR|error|Exception|Caused by|Uncaught|thread '[\w-]{1,40}' panicked at"
    r"|Exception in thread \"[^\"\n]{1,60}\")"
    r"[: ]{1,3}|\[?[\w ]{1,30}\]? ?(?:[-:] )?)?(?<!\w)((?:[\w$]{1,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception"
    r"|Behavior|Failure|Timeout|Interrupt|Exit)|(?<=^)Exception)\b(?:\$[A-Z]\w{1,40})?(?: \[\w{1,60}\])?: ?(?=\S)"
)
# A frame of Python or JavaScript, with its file and line.
FRAME = re.compile(
    r"(?m)^(?:[^\n\"]{0,120}\])?\s*File \"([^\"\n]{1,200})\", line (\d{1,7})"
    r"|\bat [\w.$<> ]{1,80} \(?([\w./\\:-]{1,120}\.[jt]sx?):(\d{1,7})"
)
# What a log puts before each line of a traceback.
_LOG_HEAD = re.compile(
    r"(?m)^[ \t]{0,4}(?:\([\w. -]{1,60} pid=\d{1,9}\) ?)?(?:ERROR|CRITICAL)"
    r"(?: (?:\d\d-\d\d \d\d:\d\d:\d\d )?\[[\w.]{1,80}:\d{1,6}\] ?|:(?=[ \n]) ?)"
)
_HEADED_FRAME = re.compile(r"(?m)^[ \t]{0,4}(?:ERROR|CRITICAL):[ \t]{1,8}File \"")
# The time that a container's console puts before each line of a traceback.
_TIME = re.compile(r"(?m)^[ \t]{0,4}\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,6})? (?! ?\|)")
_TIMED_FRAME = re.compile(_TIME.pattern + r" {2}File \"")
_TIMED_DOTNET = re.compile(_TIME.pattern + r"(?:---> )?[\w.]{3,120}Exception: ")
_FRAME_OF_PYTHON = re.compile(r"(?m)^\s{0,12}File \"[^\"\n]{1,200}\", line \d{1,7}, in \S")
_STACK_LINE = re.compile(r"\s{0,12}at (?P<where>[\w.$<>`+\[\],]{3,200})[ (]|\s{0,12}---? End of ")
_MAX_STACK = 60  # lines
_MIN_FRAMES = 2  # of a traceback that was copied without its first line
_FILE = 'File "'  # begins each frame of Python
TRACEBACK = "Traceback (most recent call last):"
_SLASH = re.compile(r"[/\\]")
# The name of an exception that was raised without words, alone in its line.
_BARE = re.compile(r"(?m)^(?:\w{1,60}\.){0,8}([A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Failure|Timeout))[ \t]*$")


def raised_without_words(text: str) -> str | None:
    """Return a sentence on an exception that was raised without words; `None` without one at a traceback's end."""
    start = text.rfind(TRACEBACK)
    frame = _last_frame(text, start) if start >= 0 else None
    last = None if frame is None else _BARE.search(text, frame.end())
    if frame is None or last is None:
        return None
    source = next((line.strip() for line in text[frame.end() : last.start()].split("\n")[1:] if line.strip()), "")
    at = f" at `{source[:200]}`" if source and "`" not in source else ""
    return f"The traceback ends with `{last[1]}`, raised without words{at}: what was checked there is not in the text."


def drop_levels(text: str) -> str:
    """Return a traceback without the level or time that a log puts before each line (`ERROR:   File "a.py" …`)."""
    is_timed = _TIMED_FRAME.search(text) is not None or _TIMED_DOTNET.search(text) is not None
    text = _TIME.sub("", text) if is_timed else text
    return text if _HEADED_FRAME.search(text) is None else _LOG_HEAD.sub("", text)


def cut_traceback(text: str) -> str | None:
    """Return a sentence on a traceback that was copied without the line that names its error; `None` of other texts."""
    text = _LOG_HEAD.sub("", text)
    is_begun = TRACEBACK in text
    start = text.rfind(TRACEBACK) if is_begun else text.find(_FILE)
    if not is_begun and len(_FRAME_OF_PYTHON.findall(text)) < _MIN_FRAMES:
        return None
    if start < 0 or EXCEPTION.search(text, max(start + len(TRACEBACK), text.rfind(_FILE, start))) is not None:
        return None
    frame = _last_frame(text, start)
    if frame is None or _BARE.search(text, frame.end()) is not None:
        return None
    speaker = speaker_of(text)
    origin = "" if speaker is None else f" of {speaker.title}"
    without = "" if is_begun else "its beginning and "
    return (
        f"The text contains a traceback{origin} without {without}its end: it breaks off in {place_of(frame)}, and the "
        "line below its last frame names the error."
    )


def stack_alone(text: str) -> str | None:
    """Return a sentence on a stack of .NET, Java or JavaScript without the line that names its error; else `None`."""
    lines = [line for line in text.split("\n") if line.strip()]
    frames = [_STACK_LINE.match(line) for line in lines[:_MAX_STACK]]
    first = frames[0] if frames else None
    if first is None or len(frames) < _MIN_FRAMES or not all(frames):
        return None
    return (
        f"The text is the stack of an exception without the line above it, which names the error: it was raised in "
        f"`{first['where']}`."
    )


def _last_frame(text: str, start: int) -> re.Match[str] | None:
    """Return the last frame of a traceback; the frames before the last one with a file are not read."""
    line = text.rfind("\n", start, max(start, text.rfind(_FILE, start)))
    frames = list(FRAME.finditer(text, max(start, line))) or list(FRAME.finditer(text, start))
    return frames[-1] if frames else None


def place_of(frame: re.Match[str]) -> str:
    """Return where a match of `FRAME` is: `utils.py line 12`."""
    file, line = (frame[1], frame[2]) if frame[1] else (frame[3], frame[4])
    parts = _SLASH.split(file)
    return f"{'/'.join(parts[-2:]) if parts[-1] == '__init__.py' else parts[-1]} line {line}"
