"""Faults of model files."""

from pegasos.io import load_model, save_model

from .changes import changed
from .fault import bits, kind, refused, same
from .fits import MODELS, fitted, learned

WORDS = (b"NaN", b"Infinity", b"-1", b"1e999", b"null", b"[]", b"{}", b'"', b"true", b"9" * 30, b"[" * 3000)


@kind(
    "model files",
    "bits, bytes and pieces changed, cut off, swapped, doubled, inserted; of every kind of model; then `load_model`",
    50_000,
)
def prepare(folder):
    path = folder / "a.model"
    models = [*map(fitted, MODELS), learned()]
    files = []
    for model in models:
        save_model(model, path)
        files.append((path.read_bytes(), bits(load_model(path))))

    def inject(random):
        data, expected = random.choice(files)
        new, told = changed(data, random, WORDS)
        path.write_bytes(new)
        try:
            found = load_model(path)
        except ValueError as error:
            return refused(error, path)
        return same(bits(found), expected, f"loads as another model: {told}")

    return inject
