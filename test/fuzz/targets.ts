import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parseDocument, parse as parseYaml } from 'yaml'
import { ResponseMemory } from '../../src/client/bytes/memory.ts'
import { JsonCursor } from '../../src/client/document/json.ts'
import { SseDecoder } from '../../src/client/stream/sse.ts'
import { parseContract } from '../../src/contract/load.ts'
import { parseDeploymentProfile } from '../../src/contract/profile.ts'
import { checkLook } from '../../src/portal/settings/opened-settings.ts'
import { parseSettings } from '../../src/portal/settings/settings.ts'
import { hasTwice } from '../../src/portal/settings/tokens.ts'
import { speechOf } from '../../src/report/usage/board/speech.js'
import { boardWords } from '../../src/report/usage/board/words.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { readJournal } from '../../src/store/attempts/journal.ts'
import { parseMapping } from '../../src/store/import/mapping.ts'
import { UserError, type UserErrorCode } from '../../src/user/user-error.ts'
import { eventsIn } from '../foreign/event-stream.js'

/** A reader of foreign input. */
export interface Target {
  /** Also the name of its corpus folder. */
  readonly name: string
  /** What is wrong with its reading of these bytes, or null. */
  check(input: Buffer): string | null
}

/** Splits an input into reads, the same way each time. */
function readsOf(input: Buffer): readonly Buffer[] {
  const reads: Buffer[] = []
  let state = input.length + 1
  for (let from = 0; from < input.length; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const to = Math.min(input.length, from + 1 + (state % 13))
    reads.push(Buffer.from(input.subarray(from, to)))
    from = to
  }
  return reads
}

const sse: Target = {
  name: 'sse',
  check(input) {
    const ours: string[] = []
    const sink = {
      onEvent: (bytes: Buffer, start: number, end: number) =>
        ours.push(bytes.toString('utf8', start, end)),
    }
    const decoder = new SseDecoder(sink, new ResponseMemory())
    for (const read of readsOf(input)) decoder.feed(read, 0, read.length)
    const text = new TextDecoder('utf-8').decode(input)
    const theirs = eventsIn(text)
    return isDeepStrictEqual(ours, theirs)
      ? null
      : `events ${JSON.stringify(ours)}; by eventsource-parser ${JSON.stringify(theirs)}`
  },
}

class Grammar extends JsonCursor {
  isJson(bytes: Buffer): boolean {
    return this.document(bytes, 0, bytes.length)
  }
}

const json: Target = {
  name: 'json',
  check(input) {
    // Invalid UTF-8 is replaced before JSON.parse sees it.
    const bytes = Buffer.from(input.toString('utf8'))
    const grammar = new Grammar()
    const ours = grammar.isJson(bytes)
    if (grammar.tooDeep) return null
    const theirs = isParsed(bytes.toString('utf8'))
    return ours === theirs ? null : `${ours ? 'taken' : 'refused'}, not so by JSON.parse`
  },
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A parser that must accept its input or refuse it with a UserError. */
function refusing(
  name: string,
  codes: readonly UserErrorCode[],
  parse: (text: string) => void,
): Target {
  return {
    name,
    check(input) {
      try {
        parse(input.toString('utf8'))
        return null
      } catch (error) {
        if (error instanceof UserError && codes.includes(error.code)) return null
        return `no error of ours: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`
      }
    },
  }
}

/** A YAML document; null for text that is not YAML. */
function documentOf(text: string): unknown {
  try {
    return parseYaml(text, { logLevel: 'error' })
  } catch {
    return null
  }
}

const journal: Target = {
  name: 'journal',
  check(input) {
    const folder = mkdtempSync(join(tmpdir(), 'assay-fuzz-'))
    try {
      const path = join(folder, 'a.duckdb.journal')
      writeFileSync(path, input)
      const { bytesLost, rowsLost } = readJournal(path)
      const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0
      return isCount(bytesLost) && isCount(rowsLost) && bytesLost <= input.length
        ? null
        : `${bytesLost} bytes and ${rowsLost} rows are lost of ${input.length} bytes`
    } catch (error) {
      // A document of another version is refused with one sentence.
      return error instanceof UserError ? null : `an error: ${error}`
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** Claims of a token: whether a name stands twice in an object, by another reader of the same text. */
const tokens: Target = {
  name: 'tokens',
  check(input) {
    const text = input.toString('utf8')
    if (!isParsed(text)) return null
    // JSON as YAML of one line, where it is both.
    const { errors } = parseDocument(text.replace(/[\n\r\t]/g, ' '), { schema: 'json' })
    if (errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return null
    const theirs = errors.length > 0
    return hasTwice(text) === theirs ? null : `${theirs ? 'twice' : 'once'} by yaml, and not by us`
  },
}

const board = {
  ...{ locale: 'en', words: boardWords, folded: { model: 0, key: 0, endpoint: 0 } },
} as Parameters<typeof speechOf>[0]
/** Names of others: an account of the settings, and a series of a page. */
const names: Target = {
  name: 'names',
  check(input) {
    const name = input.toString('utf8')
    if (name === '') return null
    const shown = speechOf(board).nameOf(name, 'model')
    if (shown !== name && !['(other)', '(unknown)'].includes(name)) return `shown as ${shown}`
    const quoted = JSON.stringify(name)
    const { accounts } = parseSettings(
      `${settingsHead}accounts: { ${quoted}: { label: x } }\nrevokedBefore: { ${quoted}: 2026-01-01T00:00:00Z }\n`,
      'a.yaml',
    )
    return accounts.get(name)?.label === 'x' && accounts.size === 1 ? null : 'another account'
  },
}
const settingsHead = 'product: X\ntokens: { algorithm: HS256, secretEnv: S }\n'

export const targets: readonly Target[] = [
  sse,
  json,
  refusing('scenario', ['scenario'], (text) => parseScenario(text, 'a.yaml')),
  refusing('contract', ['contract'], (text) => parseContract(documentOf(text), 'a.yaml')),
  refusing('mapping', ['import', 'usage'], (text) => parseMapping(text, 'a.yaml')),
  refusing('profile', ['profile'], (text) => parseDeploymentProfile(documentOf(text), 'a.yaml')),
  journal,
  refusing('settings', ['usage', 'report'], (text) => {
    checkLook({ ...parseSettings(text, 'a.yaml'), folder: tmpdir() })
  }),
  tokens,
  names,
]
