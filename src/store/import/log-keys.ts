import { createHash } from 'node:crypto'
import { mark, Secrets, secrets } from '../../user/secrets/secrets.ts'
import { alikeIn } from './key-forms.ts'

/** More are not looked for: their index takes about 25 KB and half a millisecond for each key. */
export const mostKeys = 20_000
/** A shorter key occurs in other words. It is hidden in its own place only. */
export const shortestKey = 8

/** Hides the keys of one log in all of its texts. */
export class LogKeys {
  private readonly secrets: Secrets
  private readonly bytes = Buffer.alloc(512)

  constructor(keys: Iterable<string>) {
    this.secrets = new Secrets(secrets.values)
    for (const key of keys) if (key.length >= shortestKey) this.secrets.add(key)
  }

  get areKnown(): boolean {
    return this.secrets.values.length > 0
  }

  /** The text without keys. */
  hidden(text: string): string {
    return this.mayBeIn(text) ? this.secrets.without(text, shortestKey) : text
  }

  /** A name without keys. Different names stay different: `[key] 2bb80d537b1d`. */
  hiddenName(name: string): string {
    const shown = this.hidden(name)
    if (shown === name) return name
    return `${shown} ${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
  }

  /** Most texts are short, and have none. */
  private mayBeIn(text: string): boolean {
    if (text.length * 3 > this.bytes.length) return true
    return this.secrets.mayStandIn(this.bytes, 0, this.bytes.write(text))
  }
}

/** The texts in an object, hidden. */
export function hiddenTexts<T>(value: T, keys: LogKeys): T {
  if (typeof value === 'string') return keys.hidden(value) as T
  if (Array.isArray(value)) return value.map((each) => hiddenTexts(each, keys)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [
    keys.hidden(name),
    hiddenTexts(each, keys),
  ])
  return Object.fromEntries(entries) as T
}

/** What looks like a key in a text, or is the value of a member with such a name. */
export function* keysIn(text: string): Generator<string> {
  yield* alikeIn(text)
  for (const named of [namedPhrases, namedKeys])
    for (const [, value] of text.matchAll(named)) yield value!.replaceAll('\\/', '/')
}

/** A phrase may be a secret as a whole. */
const namedPhrases = /"[\w-]*(?:secret|password)"\s*:\s*"((?:[^"\\\r\n]|\\\/){8,})/gi
/** A key has no blank: before one, only the name of a scheme may stand, and a sentence is none. */
const namedKeys =
  /"[\w-]*(?:api_?key|authorization|token)"\s*:\s*"(?:(?:Basic|Bearer|Digest|Token|ApiKey) +)?((?:[^"\\\s]|\\\/){8,})(?![^"\\])/gi

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g

/** A JSON text without the value at a place, which may stand there twice; every other character is as it was. */
export function hiddenAt(json: string, steps: readonly string[]): string {
  let shown = ''
  let from = 0
  const path: (string | number)[] = []
  let isName = false
  for (const { 0: token, index } of json.matchAll(tokens)) {
    const last = path.length - 1
    if (token === '{' || token === '[') {
      isName = token === '{'
      path.push(isName ? '' : 0)
    } else if (token === '}' || token === ']') {
      path.pop()
      isName = false
    } else if (token === ',') {
      const at = path[last]
      isName = typeof at === 'string'
      if (typeof at === 'number') path[last] = at + 1
    } else if (token === ':') isName = false
    else if (isName) path[last] = String(JSON.parse(token))
    else if (
      token !== '""' &&
      path.length === steps.length &&
      steps.every((step, nth) => step === String(path[nth]))
    ) {
      shown += `${json.slice(from, index)}"${mark}"`
      from = index + token.length
    }
  }
  return shown + json.slice(from)
}

/** Between the values of a line. */
const word = /[^\s,;|"'{}[\]:=]{8,}/g
/** Numbers and times. */
const plain = /^[\d.+\-TZ]+$/

/**
 * A line that cannot be read, without anything that may be a key: nothing shows where its key is.
 *
 * @param known words that are none, such as names of columns
 */
export const hiddenWords = (line: string, known: ReadonlySet<string>): string =>
  line.replace(word, (found) => (plain.test(found) || known.has(found) ? found : mark))
