"""What can be asked without a screen, by verb. Each answer is one object of plain values; floats are never rounded."""

from core.verbs.attributing import ATTRIBUTE, ROLLOUT
from core.verbs.captioning import CAPTION
from core.verbs.common import Verb
from core.verbs.counterfactual import ADVERSARY, PERMUTE
from core.verbs.erasing import ERASE
from core.verbs.explaining import EXPLAIN, TENSORS
from core.verbs.heads import EFFECTIVE
from core.verbs.judging import RATIONALES
from core.verbs.translating import TRANSLATE
from core.verbs.trees import TREE
from core.verbs.works import DATA, EXPERIMENT, MODELS, TRAIN

VERBS: dict[str, Verb] = {
    "models": MODELS,
    "explain": EXPLAIN,
    "permute": PERMUTE,
    "adversary": ADVERSARY,
    "erase": ERASE,
    "rationales": RATIONALES,
    "effective": EFFECTIVE,
    "attribute": ATTRIBUTE,
    "rollout": ROLLOUT,
    "tree": TREE,
    "tensors": TENSORS,
    "translate": TRANSLATE,
    "caption": CAPTION,
    "train": TRAIN,
    "experiment": EXPERIMENT,
    "data": DATA,
}
