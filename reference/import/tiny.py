"""Tiny random Marian models in the formats that `padir import` reads, and what their own programs make of them.

    pip install ctranslate2==4.8.5 sentencepiece==0.2.3 torch==2.15.0 transformers==5.23.0 safetensors==0.8.0

    python tiny.py DIRECTORY

Writes into DIRECTORY/shared (one list of ids, swish, scaled embeddings) and DIRECTORY/separate (two lists, relu):

    hf/                 config.json, model.safetensors, vocabulary: a Marian checkpoint of transformers
    pytorch_model.bin   the same weights as torch.save writes them (a zip archive)
    legacy.bin          the same as torch.save wrote them before version 1.6
    ct2-float32/ ct2-int8/ ct2-int16/ ct2-float16/ ct2-bfloat16/    as CTranslate2 converts them; of the shared one alone
    expected.json       for each sentence: ids by MarianTokenizer, the loss of a target by transformers, and the tokens and scores that
                        CTranslate2 finds with a beam of 1 and of 4 from the float32 weights

Vocabularies are trained by SentencePiece on the sentences themselves, without normalisation, which keeps them small.
"""

import io
import json
import pathlib
import shutil
import sys

import ctranslate2
import sentencepiece
import torch
from ctranslate2.converters import TransformersConverter
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

SOURCE = """ein Hund läuft durch den Schnee .
zwei Männer reden miteinander .
das Haus ist groß und der Garten ist klein .
wir haben gestern ein neues Auto gekauft .
die Kinder spielen im Garten hinter dem Haus .
im Winter ist der Schnee hinter dem Haus tief .""".splitlines()
TARGET = """a dog runs through the snow .
two men are talking to each other .
the house is large and the garden is small .
we bought a new car yesterday .
the children are playing in the garden behind the house .
in winter the snow behind the house is deep .""".splitlines()
# Characters that no vocabulary has; one that only the target's has.
ODD = ["ein ☃☃ Hund", "Hund ¿ x", "", "  ein   Hund ", "Hund way"]
CASES = {
    "shared": dict(activation_function="swish", scale_embedding=True, share_encoder_decoder_embeddings=True),
    "separate": dict(activation_function="relu", scale_embedding=False, share_encoder_decoder_embeddings=False),
}
LONGEST = 40


def train(sentences, size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, vocab_size=size,
        normalization_rule_name="identity", character_coverage=1.0, hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def pieces(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    texts = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    # One piece of each is left out: it is then unknown.
    return [text for text in texts if text not in ("<unk>", "<s>", "</s>", "ß", "w")]


def ids(texts):
    unique = list(dict.fromkeys(["</s>", "<unk>"] + texts)) + ["<pad>"]
    return {piece: number for number, piece in enumerate(unique)}


def randomise(model, pad):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" in name:
                continue
            noise = torch.randn_like(parameter)
            if "layer_norm.weight" in name:
                parameter.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.3 * noise)
            elif "embed_tokens" in name or "shared" in name:
                parameter.copy_(0.4 * noise)
            else:
                parameter.copy_(noise * 3 / parameter.shape[1] ** 0.5)
        # CTranslate2 starts from zeros; transformers from the embedding of the padding.
        for embedding in (model.get_input_embeddings(), model.model.encoder.embed_tokens, model.model.decoder.embed_tokens):
            embedding.weight[-1] = 0
        model.final_logits_bias.copy_(0.7 * torch.randn_like(model.final_logits_bias))
        # So that searches end now and then.
        model.final_logits_bias[0, 0] = 4


def write(directory, case):
    shutil.rmtree(directory, ignore_errors=True)
    hf = directory / "hf"
    hf.mkdir(parents=True)
    torch.manual_seed(5)
    source_spm, target_spm = train(SOURCE, 90), train(TARGET, 80)
    (hf / "source.spm").write_bytes(source_spm)
    (hf / "target.spm").write_bytes(target_spm)
    shared = case["share_encoder_decoder_embeddings"]
    source, target = pieces(source_spm), pieces(target_spm)
    source_ids = ids(source + target + [">>en<<"]) if shared else ids(source)
    target_ids = source_ids if shared else ids(target)
    dump = lambda value: json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    (hf / "vocab.json").write_text(dump(source_ids))
    if not shared:
        (hf / "target_vocab.json").write_text(dump(target_ids))
    (hf / "tokenizer_config.json").write_text(
        dump({"source_lang": "de", "target_lang": "en", "separate_vocabs": not shared, "model_max_length": LONGEST})
    )
    pad = target_ids["<pad>"]
    config = MarianConfig(
        d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
        # CTranslate2's converter gives the decoder the heads of the encoder.
        decoder_attention_heads=4 if shared else 2,
        encoder_ffn_dim=24, decoder_ffn_dim=20, vocab_size=len(source_ids), decoder_vocab_size=len(target_ids),
        max_position_embeddings=LONGEST, static_position_embeddings=True, pad_token_id=pad, eos_token_id=0,
        decoder_start_token_id=pad, **case,
    )
    model = MarianMTModel(config).eval()
    randomise(model, pad)
    model.save_pretrained(hf)
    model = MarianMTModel.from_pretrained(hf, dtype=torch.float32).eval()
    torch.save(model.state_dict(), directory / "pytorch_model.bin")
    torch.save(model.state_dict(), directory / "legacy.bin", _use_new_zipfile_serialization=False)
    tokenizer = MarianTokenizer.from_pretrained(hf, separate_vocabs=not shared)
    sentences = SOURCE + ODD + ([">>en<< ein Hund"] if shared else [])
    expected = {"sentences": sentences, "source_ids": [tokenizer(text)["input_ids"] for text in sentences]}
    expected["targets"] = TARGET
    expected["target_ids"] = [tokenizer(text_target=text)["input_ids"] for text in TARGET]
    losses = []
    for text, label in zip(SOURCE, expected["target_ids"]):
        with torch.no_grad():
            out = model(input_ids=torch.tensor([tokenizer(text)["input_ids"]]), labels=torch.tensor([label]))
        losses.append(out.loss.item())
    expected["losses"] = losses
    if not shared:
        # CTranslate2's converter knows no Marian with two lists.
        (directory / "expected.json").write_text(dump(expected))
        return
    for quantization in ("float32", "int8", "int16", "float16", "bfloat16"):
        place = directory / f"ct2-{quantization}"
        TransformersConverter(str(hf)).convert(
            str(place), quantization=None if quantization == "float32" else quantization, force=True
        )
        # As an OPUS-MT directory for CTranslate2 has them.
        for name in ("source.spm", "target.spm"):
            shutil.copy(hf / name, place / name)
    translator = ctranslate2.Translator(str(directory / "ct2-float32"), compute_type="float32", intra_threads=1)
    listed = [tokenizer.convert_ids_to_tokens(row[:-1]) + ["</s>"] for row in expected["source_ids"] if row[:-1]]
    expected["translated"] = [row[:-1] for row in expected["source_ids"] if row[:-1]]
    for beam in (1, 4):
        results = translator.translate_batch(
            listed, beam_size=beam, num_hypotheses=1, return_scores=True, max_decoding_length=LONGEST
        )
        expected[f"beam{beam}"] = [result.hypotheses[0] for result in results]
        expected[f"beam{beam}_scores"] = [result.scores[0] for result in results]
    (directory / "expected.json").write_text(dump(expected))


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, case in CASES.items():
        write(pathlib.Path(sys.argv[1]) / name, case)
