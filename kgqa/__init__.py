"""kgqa turns a knowledge graph and documents into multi-hop question-answering datasets.

What users need is here, and listed in the stub beside this file; it is imported when it is first used, so that ``import kgqa`` costs
nothing. No package or module beside this file has the name of a function here, because importing it would put it in the function's place.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
