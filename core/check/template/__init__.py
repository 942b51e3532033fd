"""What is wrong with a template, or worth knowing of it, found by rendering; no parser takes part.

finding      how a finding is written
answers      what it does not print of an answer
prompts      generation prompt, prompts that go on where the last one ended, text that changes with the clock
"""

from prompt_debugger.core.check.template.findings import TemplateCheck, check_template

__all__ = ["TemplateCheck", "check_template"]
