import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { firstUniqueTemplate } from '../../../src/attempt/evidence.ts'
import { loadContract } from '../../../src/contract/load.ts'
import { checkEvidence } from '../../../src/report/vendor/check-evidence.ts'
import { writeEvidence } from '../../../src/report/vendor/write-evidence.ts'
import { UserError } from '../../../src/user/user-error.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'
import { answersTo, verdictOnTexts } from './one-answer-each.ts'
import { audited, repeated, words } from './texts.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-tokenizer-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, content: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** A tokenizer of Hugging Face's form with one token for each letter and sign, and none for spaces. */
const pieces = {
  ...{ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null },
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: {
    ...{ type: 'BPE', unk_token: '[UNK]', fuse_unk: false, byte_fallback: false, merges: [] },
    vocab: Object.fromEntries(
      ['[UNK]', ...new Set([...audited, ...repeated].join('').replaceAll(/\s/g, ''))].map(
        (letter, at) => [letter, at],
      ),
    ),
  },
}
file('pieces.json', pieces)
const letters = (text: string) => [...text.replaceAll(/\s/g, '')].length

const contractFile = (tokenizer: string, name = 'c.yaml') =>
  file(
    name,
    `name: sold\nextends: none\ncurrency: USD\nmodels: [{ id: svc-k2, template_tokens: 12, tokenizer: ${tokenizer}, price: { input: 4, output: 8 } }]\n`,
  )

const verdictOf = (
  rule: string,
  path: string,
  texts: readonly string[],
  reported: (tokens: number) => number,
) =>
  verdictOnTexts(rule, loadContract(path), texts, (text) => ({
    promptTokens: reported(letters(text)),
    completionTokens: 1,
  }))

test('the tokenizer.json of a model counts its texts: an honest service passes, whatever its pieces', {
  tags: 'whole',
}, async () => {
  const path = contractFile('pieces.json')
  expect(await verdictOf('SOLD-01', path, audited, (tokens) => tokens + 12)).toMatchObject({
    verdict: 'pass',
    observations: 24,
  })
  expect(await verdictOf('SOLD-02', path, words, (tokens) => tokens + 12)).toMatchObject({
    verdict: 'pass',
    note: 'svc-k2: 12 tokens beside the text',
  })
})

test('what too many tokens cost leaves out prompts that only share the body of another, which a tokenizer.json may count otherwise', async () => {
  const template = firstUniqueTemplate + 300
  const { rows, templates } = answersTo(audited, (text) => ({
    promptTokens: 2 * (letters(text) + 12),
    completionTokens: 1,
  }))
  const verdict = await verdictOver(
    'SOLD-01',
    [...rows, ...[100, 101].map((slot) => attempt(slot, { template, promptTokens: 100_000 }))],
    {
      templates: [...templates, { ...templates[0]!, template }],
      contract: loadContract(contractFile('pieces.json')),
    },
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'tokens too many in 24 requests (2 more could not be counted)',
    ),
  })
})

test('by it, a factor that repeats of words do not show fails, with what it cost', {
  tags: 'whole',
}, async () => {
  const verdict = await verdictOf('SOLD-01', contractFile('pieces.json'), audited, (tokens) =>
    Math.round(2 * (tokens + 12)),
  )
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(
      /The service counts 2\.000 tokens \(.*\) for each token of pieces\.json, alike in three scripts.* tokens too many in 24 requests, which cost 0\.\d+ USD by the contract/,
    ),
  })
})

test('an honest service of another encoding than the file is not accused', {
  tags: 'whole',
}, async () => {
  for (const count of [
    (text: string) => 2 * letters(text) + text.split(' ').length,
    (text: string) => Buffer.byteLength(text),
    (text: string) => Math.ceil(text.length / 3),
  ]) {
    const path = contractFile('pieces.json')
    const verdict = await verdictOnTexts('SOLD-01', loadContract(path), audited, (text) => ({
      promptTokens: count(text) + 12,
      completionTokens: 1,
    }))
    expect(verdict).toMatchObject({ verdict: 'inconclusive' })
  }
})

test('its path is relative to the file that names it, also from a file that extends that', async () => {
  mkdirSync(join(folder, 'team'))
  file('team/own.yaml', 'extends: ../c.yaml\nname: own\n')
  contractFile('pieces.json')
  const { models = [] } = loadContract(join(folder, 'team/own.yaml'))
  expect(models[0]!.tokenizer).toBe(join(folder, 'pieces.json'))
})

test('a file that is missing is an error of the contract, before anything is audited', () => {
  expect(() => loadContract(contractFile('absent.json'))).toThrow(
    /models\.0\.tokenizer: expected one of o200k, cl100k, p50k, r50k, or the path of a tokenizer\.json that exists; got "absent\.json"/,
  )
})

const errorOf = async (path: string) => {
  try {
    await verdictOf('SOLD-01', path, audited, (tokens) => tokens)
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
  return null
}

test.each([
  ['no.json', 'not JSON', 'it is no JSON object'],
  ['list.json', '[1]', 'it is no JSON object'],
  ['other.json', '{"name":"package"}', ''],
  ['model.json', '{"model":{"type":"Sorcery","vocab":{}}}', ''],
])('a file that is no tokenizer (%s) is an error that names it', async (name, content, why) => {
  file(name, content)
  const said = await errorOf(contractFile(name, `of-${name}.yaml`))
  expect(said).toContain("expected a tokenizer.json of Hugging Face's form")
  expect(said).toContain(join(folder, name))
  expect(said).toContain(why)
})

test('a library that is missing is an error that says how to install it', async () => {
  vi.resetModules()
  vi.doMock('@huggingface/tokenizers', () => {
    throw new Error("Cannot find package '@huggingface/tokenizers'")
  })
  const { countOfFile } = await import('../../../src/audit/evidence/sold/tokenizer-file.ts')
  await expect(countOfFile(`${join(folder, 'pieces')}.json`)).rejects.toThrow(
    'models: tokenizer: pieces.json is counted by a library that is not installed. Install it next to assay: npm install @huggingface/tokenizers.',
  )
  vi.doUnmock('@huggingface/tokenizers')
  vi.resetModules()
})

test('evidence has the file beside the contract, and is judged again without ours', async () => {
  const log = file(
    'log.jsonl',
    `${JSON.stringify({ request_id: 'r', model: 'svc-k2', prompt_tokens: 10, completion_tokens: 1, spend: 1, startTime: '2026-11-01T00:00:00.000Z' })}\n`,
  )
  await writeEvidence({
    ...{ folder: join(folder, 'evidence'), runs: null, contract: contractFile('pieces.json') },
    ...{ profile: null, log, choices: {}, nowMs: Date.UTC(2026, 10, 2), isAnonymous: false },
  })
  const evidence = join(folder, 'evidence')
  expect(readFileSync(join(evidence, 'contract.json'), 'utf8')).toContain(
    '"tokenizer": "tokenizer-1.json"',
  )
  expect(JSON.parse(readFileSync(join(evidence, 'tokenizer-1.json'), 'utf8'))).toEqual(pieces)
  expect((await checkEvidence(evidence)).differences).toEqual([])
})
