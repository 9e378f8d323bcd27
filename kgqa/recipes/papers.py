"""BibTeX entries of the papers behind the recipes, for dataset cards."""

WIKIHOP = """
@article{welbl-etal-2018-constructing,
  title = {Constructing Datasets for Multi-hop Reading Comprehension Across Documents},
  author = {Welbl, Johannes and Stenetorp, Pontus and Riedel, Sebastian},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {6},
  year = {2018}
}"""
MUSIQUE = """
@article{trivedi-etal-2022-musique,
  title = {{MuSiQue}: Multihop Questions via Single-hop Question Composition},
  author = {Trivedi, Harsh and Balasubramanian, Niranjan and Khot, Tushar and Sabharwal, Ashish},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {10},
  year = {2022}
}"""
DIRE = """
@inproceedings{trivedi-etal-2020-multihop,
  title = {Is Multihop {QA} in {DiRe} Condition? Measuring and Reducing Disconnected Reasoning},
  author = {Trivedi, Harsh and Balasubramanian, Niranjan and Khot, Tushar and Sabharwal, Ashish},
  booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing},
  year = {2020}
}"""
ADVERSARIAL = """
@inproceedings{jiang-bansal-2019-avoiding,
  title = {Avoiding Reasoning Shortcuts: Adversarial Evaluation, Training, and Model Development for Multi-Hop {QA}},
  author = {Jiang, Yichen and Bansal, Mohit},
  booktitle = {Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics},
  year = {2019}
}"""
IIRC = """
@inproceedings{ferguson-etal-2020-iirc,
  title = {{IIRC}: A Dataset of Incomplete Information Reading Comprehension Questions},
  author = {Ferguson, James and Gardner, Matt and Hajishirzi, Hannaneh and Khot, Tushar and Dasigi, Pradeep},
  booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing},
  year = {2020}
}"""
STRATEGYQA = """
@article{geva-etal-2021-aristotle,
  title = {Did {Aristotle} Use a Laptop? {A} Question Answering Benchmark with Implicit Reasoning Strategies},
  author = {Geva, Mor and Khashabi, Daniel and Segal, Elad and Khot, Tushar and Roth, Dan and Berant, Jonathan},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {9},
  year = {2021}
}"""
