import { decoded } from '../decoded.ts'
import { EncodedIds } from './encoded-id.ts'
import { KeyIndex, type Region } from './key-index.ts'
import { Search, type Wanted } from './search.ts'
import { layersFor } from './unescaped.ts'

export const mark = '[key]'
/** Replaces a text that is encoded more deeply than the search goes. */
export const notKept = '[not kept: it is encoded too often to be sure that the key is not in it]'

interface Prepared extends Omit<Wanted, 'shortest'> {
  readonly ids: EncodedIds
}

/** Keys in lower case that users send to a service without keys; they are not secret. */
const placeholders = new Set(['', 'none', 'empty', 'dummy', 'no-key', 'sk-no-key-required'])

/**
 * Keys, passwords and tokens that must not leave a process. What leaves passes through here: no eight consecutive
 * letters of a secret remain, plain or encoded, in capitals or not.
 *
 * Encodings are escapes of strings, percent encoding, character references, quoted-printable, full-width letters,
 * base64, base32, hex, bits, and lists of byte values, nested in any order.
 */
export class Secrets {
  private readonly known = new Set<string>()
  private readonly index = new KeyIndex()
  /** Made when it is first used. */
  private prepared: Prepared | null = null
  /** Letters of the longest secret. */
  longest = 0

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  /** Placeholders of services without keys are not secret. */
  add(secret: string | null | undefined): void {
    if (secret === null || secret === undefined || this.known.has(secret)) return
    if (placeholders.has(secret.toLowerCase())) return
    this.known.add(secret)
    this.index.add(secret)
    this.longest = Math.max(this.longest, secret.length)
    this.prepared = null
  }

  /** Adds a password, also as an address has it. A short one occurs in other words, so it counts only where it is used. */
  addPassword(part: string): void {
    for (const each of [part, decoded(part)]) if (each.length >= 8) this.add(each)
  }

  /** All of them, for another thread. */
  get values(): readonly string[] {
    return [...this.known]
  }

  /**
   * The text without any secret.
   *
   * @param shortest secrets with fewer letters may stay, as in sentences of our own
   * @returns null if the text is encoded too deeply to be sure
   */
  redacted(text: string, shortest = 1): string | null {
    const regions = this.regionsOf(text, shortest)
    if (regions === null) return null
    let clean = ''
    let from = 0
    for (const { start, end } of regions) {
      clean += text.slice(from, start) + mark
      from = end
    }
    return from === 0 ? text : clean + text.slice(from)
  }

  /** Where secrets are, in order and apart; null if the text is encoded too deeply to be sure. */
  regionsOf(text: string, shortest = 1): readonly Region[] | null {
    if (this.known.size === 0 || text === '') return []
    const regions = new Search({ ...this.ready, shortest }, text.length).regionsOf(text)
    return regions === null ? null : merged(regions)
  }

  /** The text without any secret; a note if it is encoded too deeply to be sure. */
  without(text: string, shortest = 1): string {
    return this.redacted(text, shortest) ?? notKept
  }

  /** Whether the bytes of an id may contain a secret. It runs for each response, so it examines few of them. */
  mayStandIn(bytes: Uint8Array, start: number, end: number): boolean {
    const { ids, index } = this.prepared ?? this.ready
    if (index.mayStandIn(bytes, start, end)) return true
    return index.mayBeEncoded && ids.mayStandIn(bytes, start, end)
  }

  private get ready(): Prepared {
    const { index } = this
    this.prepared ??= { index, ids: new EncodedIds(index), layers: layersFor(this.known) }
    return this.prepared
  }
}

/** The secrets of this process, or of this thread: those of all its runs, imports, uploads and engines. */
export const secrets = new Secrets()

function merged(regions: readonly Region[]): readonly Region[] {
  const whole: { start: number; end: number }[] = []
  for (const { start, end } of [...regions].sort((a, b) => a.start - b.start)) {
    const before = whole.at(-1)
    if (before !== undefined && start <= before.end) before.end = Math.max(before.end, end)
    else whole.push({ start, end })
  }
  return whole
}
