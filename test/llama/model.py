"""python model.py FILE.gguf [LAYERS] [F32|Q4_0] [TOKENIZER.json]: a llama model of 4 million random weights. Its words are
syllables, its answers have no meaning, but batching, queueing, prefill and tokens are those of any model. The tokenizer is
written as Hugging Face's form has it as well."""

import itertools
import json
import sys

import gguf
import numpy as np

WIDTH, HEADS, INNER, TOKENS, CONTEXT = 256, 4, 512, 4096, 16384
LAYERS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
QUANTIZATION = gguf.GGMLQuantizationType[sys.argv[3] if len(sys.argv) > 3 else 'F32']
SYLLABLES = 'ba ko ri tu me sa lo ni ve du pa go fi xe za wo ja hu qi yo'.split()
LETTERS = ' abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,?!-:;()\'"'


def vocabulary():
    special = [('<unk>', 2, 0.0), ('<s>', 3, 0.0), ('</s>', 3, 0.0)]
    raw = [(f'<0x{byte:02X}>', 6, 0.0) for byte in range(256)]
    letters = [('▁' if letter == ' ' else letter, 1, -1000.0) for letter in LETTERS]
    words = (''.join(each) for length in (1, 2, 3) for each in itertools.product(SYLLABLES, repeat=length))
    pieces = (piece for word in words for piece in (f'▁{word}', word))
    known = special + raw + letters
    for place, piece in enumerate(itertools.islice(pieces, TOKENS - len(known))):
        known.append((piece, 1, float(-300 - place)))
    return known


random = np.random.default_rng(1)


def weights(rows, columns, scale):
    return (random.standard_normal((rows, columns)) * scale).astype(np.float32)


def tensors():
    yield 'token_embd.weight', weights(TOKENS, WIDTH, 1.0)
    for layer in range(LAYERS):
        at = f'blk.{layer}.'
        for norm in ('attn_norm', 'ffn_norm'):
            yield f'{at}{norm}.weight', np.ones(WIDTH, np.float32)
        for part in ('attn_q', 'attn_k', 'attn_v', 'attn_output'):
            yield f'{at}{part}.weight', weights(WIDTH, WIDTH, 0.1)
        yield f'{at}ffn_gate.weight', weights(INNER, WIDTH, 0.07)
        yield f'{at}ffn_up.weight', weights(INNER, WIDTH, 0.07)
        yield f'{at}ffn_down.weight', weights(WIDTH, INNER, 0.07)
    yield 'output_norm.weight', np.ones(WIDTH, np.float32)
    output = weights(TOKENS, WIDTH, 0.3)
    # No answer ends early, and none has raw bytes. As of a trained model, a first token has a share of a third or so, and the prompt decides which.
    output[:259] = 0
    yield 'output.weight', output


writer = gguf.GGUFWriter(sys.argv[1], 'llama')
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_vocab_size(TOKENS)
writer.add_file_type(0)
texts, types, scores = zip(*vocabulary())
writer.add_tokenizer_model('llama')
writer.add_tokenizer_pre('default')
writer.add_token_list([text.encode() for text in texts])
writer.add_token_types(types)
writer.add_token_scores(scores)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_add_bos_token(True)
writer.add_add_eos_token(False)
writer.add_chat_template('{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:')
for name, tensor in tensors():
    if tensor.ndim == 1 or QUANTIZATION == gguf.GGMLQuantizationType.F32:
        writer.add_tensor(name, tensor)
    else:
        writer.add_tensor(name, gguf.quants.quantize(tensor, QUANTIZATION), raw_dtype=QUANTIZATION)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()


def merges():
    """The same tokenizer by pairs: a piece of a higher score is put together first, wherever it is split."""
    known = set(texts)
    for text, kind in zip(texts, types):
        for at in range(1, len(text) if kind == 1 else 0):
            if text[:at] in known and text[at:] in known:
                yield [text[:at], text[at:]]


if len(sys.argv) > 4:
    spaces = [{'type': 'Prepend', 'prepend': '▁'}, {'type': 'Replace', 'pattern': {'String': ' '}, 'content': '▁'}]
    tokenizer = {
        'version': '1.0',
        'added_tokens': [],
        'normalizer': {'type': 'Sequence', 'normalizers': spaces},
        'pre_tokenizer': None,
        'post_processor': None,
        'decoder': None,
        'model': {
            'type': 'BPE',
            'unk_token': '<unk>',
            'fuse_unk': True,
            'byte_fallback': True,
            'vocab': {text: at for at, text in enumerate(texts)},
            'merges': list(merges()),
        },
    }
    with open(sys.argv[4], 'w', encoding='utf-8') as file:
        json.dump(tokenizer, file)
