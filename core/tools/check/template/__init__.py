"""What is wrong with a template, or worth knowing of it, found by rendering; no parser takes part.

finding      how a finding is written
answers      what it does not print of an answer
inputs       what it does not print, or refuses, of what clients send
prompts      whole conversations: turn after turn, with a clock, with markers in someone's text; rules of a run
behaviour    the prompts and tools that a lock keeps
"""

from prompt_debugger.core.tools.check.template.findings import TemplateCheck, check_template

__all__ = ["TemplateCheck", "check_template"]
