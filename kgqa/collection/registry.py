"""The registry of tasks."""

TASKS = {
    "validate": "kgqa.collection.tasks.validate",
    "answer": "kgqa.collection.tasks.answer",
    "compose": "kgqa.collection.tasks.compose",
    "iirc-questions": "kgqa.collection.tasks.iirc_questions",
    "iirc-answers": "kgqa.collection.tasks.iirc_answers",
    "strategyqa": "kgqa.collection.tasks.strategyqa",
}
"""Name → the module with the class ``TASK``."""
