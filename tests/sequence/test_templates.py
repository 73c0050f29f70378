"""Feature templates in CRF++'s notation."""

import pickle
import re

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from pegasos.sequence.templates import Template

SENTENCE = [("He", "PRP", "B-NP"), ("left", "VBD", "B-VP"), (".", ".", "O")]


def expand(lines, sentence):
    """The features by their definition, one at a time."""

    def value(match, t):
        row, column = t + int(match[1]), int(match[2])
        if row < 0:
            return f"_B{row}"
        if row >= len(sentence):
            return f"_B+{row - len(sentence) + 1}"
        return sentence[row][column]

    def feature(line, t):
        return re.sub(r"%x\[(-?\d+),(\d+)\]", lambda match: value(match, t), line)

    return [[feature(line, t) for line in lines] for t in range(len(sentence))]


@pytest.mark.parametrize(
    "lines",
    [
        ["U05:%x[-1,0]/%x[0,1]"],
        ["U1:%x[0,0]", "U2:%x[1,0]", "U3:%x[-1,0]"],
        ["U:%x[5,0]", "U:%x[-7,1]", "U%x[4,0]%x[4,1]"],
        ["U1:%x[-2,1]/%x[-1,1]", "U2:%x[1,1]/%x[2,1]", "U3:%x[1,1]|%x[2,1]", "U4:%x[0,1]/%x[1,1]!"],
        ["U1:%x[1,0]/%x[-1,0]/%x[1,0]", "U2:%x[0,0]/%x[-2,0]/%x[0,0]"],
        ["U-bias", "U2:%x[0,2]"],
        ["Ubias"],
        ["U é:%x[0,0] x"],
    ],
)
def test_features_by_their_definition(lines):
    for sentence in (SENTENCE, SENTENCE[:2], SENTENCE[:1], []):
        assert Template(lines).apply(sentence) == expand(lines, sentence)


def test_the_named_one_has_the_usual_window():
    rows = Template.named("chunking").apply(SENTENCE)
    assert rows[0] == [
        "U00:_B-2",
        "U01:_B-1",
        "U02:He",
        "U03:left",
        "U04:.",
        "U05:_B-1/He",
        "U06:He/left",
        "U10:_B-2",
        "U11:_B-1",
        "U12:PRP",
        "U13:VBD",
        "U14:.",
        "U15:_B-2/_B-1",
        "U16:_B-1/PRP",
        "U17:PRP/VBD",
        "U18:VBD/.",
        "U20:_B-2/_B-1/PRP",
        "U21:_B-1/PRP/VBD",
        "U22:PRP/VBD/.",
    ]
    assert rows[2][4:7] == ["U04:_B+2", "U05:left/.", "U06:./_B+1"]
    lines = [line for line in Template.named("chunking").text.splitlines() if line.startswith("U")]
    assert rows == expand(lines, SENTENCE)
    with pytest.raises(ValueError, match="no template is named 'ner'; there are 'chunking' and 'words'"):
        Template.named("ner")


def test_the_one_for_words_alone():
    template = Template.named("words")
    assert template.n_columns == 1
    assert template.apply([("He",), ("left",)])[1][7:] == [
        "U10:left",
        "U11:l",
        "U12:le",
        "U13:lef",
        "U14:t",
        "U15:ft",
        "U16:eft",
        "U17:left",
        "U18:He",
        "U19:_B+1",
        "U20:xxxx",
        "U21:Xx/xxxx",
        "U22:xxxx/_B+1",
    ]


def test_values_may_look_like_macros():
    assert Template("U:%x[0,0]/%x[1,0]").apply([("%x[0,0]",), ("100%s",)]) == [["U:%x[0,0]/100%s"], ["U:100%s/_B+1"]]


@pytest.mark.parametrize(
    ("macro", "made"),
    [
        ("%prefix[0,0,1]", ["M", "2", "", "É"]),
        ("%prefix[0,0,3]", ["McD", "200", "", "Éa"]),
        ("%suffix[0,0,2]", ["ld", "4.", "", "Éa"]),
        ("%suffix[0,0,99]", ["McDonald", "20000.04.", "", "Éa"]),
        ("%lower[0,0]", ["mcdonald", "20000.04.", "", "éa"]),
        ("%shape[0,0]", ["XxXxxxx", "dddd.dd.", "", "Xx"]),
        ("%prefix[-1,0,1]", ["_B-1", "M", "2", ""]),
        ("%shape[2,0]", ["", "Xx", "_B+1", "_B+2"]),
        ("%shape[0,0]/%x[0,0]/%suffix[0,1,1]", ["XxXxxxx/McDonald/b", "dddd.dd./20000.04./b", "//b", "Xx/Éa/b"]),
    ],
)
def test_macros_beside_those_of_crfpp(macro, made):
    template = Template(f"U:{macro}")
    sentence = [("McDonald", "ab"), ("20000.04.", "ab"), ("", "ab"), ("Éa", "ab")]
    assert template.apply(sentence) == [[f"U:{text}"] for text in made]
    assert template.apply([]) == []


def test_a_column_may_be_used_in_several_ways():
    template = Template(["U0:%x[0,0]", "U1:%lower[0,0]", "U2:%lower[1,0]", "U3:%prefix[0,1,1]", "U4:%prefix[0,1,2]"])
    assert template.n_columns == 2
    assert template.apply([("He", "PRP"), ("LEFT", "VBD")]) == [
        ["U0:He", "U1:he", "U2:left", "U3:P", "U4:PR"],
        ["U0:LEFT", "U1:left", "U2:_B+1", "U3:V", "U4:VB"],
    ]


def test_lines_that_are_no_features():
    text = "# %x[0\n\nU1:%x[0,0]\r\n  U2:%x[0,1]  \n   \nB\nB01\n"
    assert Template(text).apply([("a", "b")]) == [["U1:a", "U2:b"]]
    assert Template(text.split("\n")).apply([("a", "b")]) == [["U1:a", "U2:b"]]


ERRORS = [
    ("U1:%x[0,0]\nU2:%x[0]", "line 2, column 4: '%x[0]' is no %x[row,column]; write two integers"),
    ("U1:%x[a,0]", "line 1, column 4: '%x[a,0]' is no"),
    ("U1:%x[0,-1]", "line 1, column 4: '%x[0,-1]' is no"),
    ("U1:%x[0, 1]", "line 1, column 4: '%x[0, 1]' is no"),
    ("U1:%x[0,0]/%y[0,0]", "line 1, column 12: '%y[0,0]' is no"),
    ("U1:%prefix[0,0]", "line 1, column 4: '%prefix[0,0]' is no"),
    ("U1:%suffix[0,0,0]", "line 1, column 4: '%suffix[0,0,' is no"),
    ("U1:%shape[0,0,3]", "line 1, column 4: '%shape[0,0,3' is no"),
    ("U1:%suffix[-101,0,3]", "line 1, column 4: %suffix[-101,0,3] looks more than 100 positions far"),
    ("  U1:100%", "line 1, column 9: '%' is no"),
    ("U1:%%x[0,0]", "line 1, column 4: '%%x[0,0]' is no"),
    ("U1:%x[0,0]\n\nB2:%x[0,0]", "line 3, column 4: a transition that depends on columns, 'B2:%x[0,0]'; here they"),
    ("U:%x[-101,0]", "line 1, column 3: %x[-101,0] looks more than 100 positions far; make the row smaller"),
    (" %x[0,0]", "line 1, column 2: '%x[0,0]' begins with neither U nor B; write features as 'U00:%x[0,0]'"),
    ("", "the template has no features; write some, such as 'U00:%x[0,0]'"),
    ("# none\nB\n", "the template has no features"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_errors_say_where_and_what(tmp_path, text, message):
    template = Template(text)
    for use in (template.fit, lambda: template.apply(SENTENCE), lambda: template.n_columns):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            use()
    path = tmp_path / "template"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}"):
        Template.from_file(path)


def test_from_file(tmp_path):
    path = tmp_path / "template"
    path.write_bytes("\ufeffU1:%x[0,0]\r\nU2:é%x[0,1]\r\n".encode())
    assert Template.from_file(str(path)).apply([("a", "b")]) == [["U1:a", "U2:éb"]]
    path.write_bytes(b"U1:%x[0,0]\nU2:\xe9%x[0,1]\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}: line 2: not UTF-8; convert the file to UTF-8")):
        Template.from_file(path)
    with pytest.raises(FileNotFoundError):
        Template.from_file(tmp_path / "none")


def test_wrong_sentences():
    template = Template("U:%x[0,1]")
    with pytest.raises(ValueError, match="sentence 1, position 1 has 1 column, but the template uses 2; add columns"):
        template.transform([SENTENCE, [("a", "b"), ("c",)]])
    with pytest.raises(
        ValueError, match=re.escape("sentence 0, position 0 is the string 'He'; pass a tuple of columns, (")
    ):
        template.transform([["He", "left"]])
    with pytest.raises(ValueError, match="sentence 0, position 1 has 3 in column 1; pass strings"):
        template.transform([[("a", "b"), ("c", 3)]])
    with pytest.raises(TypeError, match="line 2 of the template is 7; pass a text, or lines that are strings"):
        Template(["U:%x[0,0]", 7]).fit()


@pytest.mark.parametrize(
    ("text", "sentences", "message"),
    [
        (3, [], "text=3: must be the template's text, or its lines"),
        (None, [], "text=None: must be"),
        ("U:%x[0,0]", 5, "sentences is 5; pass a list of sentences"),
        ("U:%x[0,0]", [5], "sentence 0 is 5; pass a list of tuples"),
        ("U:%x[0,0]", [[("a",), 5]], "sentence 0, position 1 is 5; pass a tuple of columns"),
    ],
)
def test_arguments_of_other_types(text, sentences, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Template(text).transform(sentences)


def test_what_a_template_does_not_use_does_not_matter():
    assert Template("U:%x[0,0]").apply([("a",), ("b", 3)]) == [["U:a"], ["U:b"]]
    assert Template("U").apply([(), ("b",)]) == [["U"], ["U"]]
    assert Template("U:%x[1,2]").n_columns == 3
    assert Template("U").n_columns == 0


def test_several_sentences_share_strings():
    template = Template("U:%x[0,0]/%x[1,0]")
    result = template.transform(sentence for sentence in (SENTENCE, [], SENTENCE))
    assert result == [template.apply(SENTENCE), [], template.apply(SENTENCE)]
    assert result[0][1][0] is result[2][1][0]


class Length(BaseEstimator):
    """The number of features of the first position."""

    def fit(self, X, y=None):
        self.n_ = len(X[0][0])
        return self

    def predict(self, X):
        return [len(sentence[0]) == self.n_ for sentence in X]


def test_in_a_pipeline():
    template = Template(["U1:%x[0,0]", "U2:%x[0,1]"])
    copied = clone(template)
    assert copied.text == template.text
    assert pickle.loads(pickle.dumps(template)).transform([SENTENCE]) == copied.transform([SENTENCE])
    assert template.fit_transform([SENTENCE], [["O"] * 3]) == copied.transform([SENTENCE])
    pipeline = make_pipeline(template, Length()).fit([SENTENCE], [["O"] * 3])
    assert pipeline.predict([SENTENCE]) == [True]
    assert pipeline[-1].n_ == 2
    pipeline.set_params(template__text="U1:%x[0,0]").fit([SENTENCE])
    assert pipeline[-1].n_ == 1


def test_window():
    made = Template.window(2, size=2).apply([("a", "b"), ("c", "d")])
    assert made[0][:5] == ["U0[-2]:_B-2", "U0[-1]:_B-1", "U0[0]:a", "U0[+1]:c", "U0[+2]:_B+1"]
    assert made[0][5:] == ["U1[-2]:_B-2", "U1[-1]:_B-1", "U1[0]:b", "U1[+1]:d", "U1[+2]:_B+1"]
    assert Template.window(3).n_columns == 3


def test_fit_counts_columns():
    template = Template("U:%x[0,0]")
    assert template.fit([[], [("a", "b")]]).n_features_in_ == 2
    assert not hasattr(Template("U:%x[0,0]").fit(), "n_features_in_")
    once = iter([[("a",)]])
    template.fit(once)
    assert next(once) == [("a",)]
