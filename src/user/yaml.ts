import {
  type Document,
  type DocumentOptions,
  isScalar,
  LineCounter,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
  type ToJSOptions,
  visit,
  YAMLParseError,
} from 'yaml'
import { holdsItself } from './holds-itself.ts'

type Options = Omit<ParseOptions & DocumentOptions & SchemaOptions, 'uniqueKeys'>

/**
 * A YAML document. A name that stands twice in a mapping is an error of the document, with its place. The library compares
 * each name with all before it; this takes one look at each. An alias without an anchor, aliases that grow too large, a merge of what is no
 * mapping, and a value that is part of itself are errors of the document, too: its value can then be taken.
 */
export function yamlDocument(text: string, options: Options = {}): Document.Parsed {
  const lines = options.lineCounter ?? new LineCounter()
  const document = parseDocument(text, {
    logLevel: 'error',
    ...options,
    lineCounter: lines,
    uniqueKeys: false,
  })
  if (document.errors.length > 0) return document
  const refuse = (
    code: 'DUPLICATE_KEY' | 'BAD_ALIAS',
    message: string,
    [start = 0, end = 0]: readonly number[] = [],
  ) => {
    const { line, col } = lines.linePos(start)
    const text = `${message} at line ${line}, column ${col}`
    const error = new YAMLParseError([start, end], code, text)
    error.linePos = [{ line, col }]
    document.errors.push(error)
  }
  /** Where the value first may be none: at an alias or a merge. */
  let first: readonly number[] | null = null
  visit(document, {
    Alias(_, alias) {
      first ??= alias.range ?? []
      if (alias.resolve(document) === undefined)
        refuse('BAD_ALIAS', `No value has the name &${alias.source}`, alias.range ?? [])
    },
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        // A merge is a symbol, and may stand twice.
        if (typeof key.value === 'symbol') {
          first ??= key.range ?? []
          continue
        }
        // A name of digits stays as it is written: `0042`, or an id beyond the exact numbers.
        if (typeof key.value === 'number' && key.source !== undefined) key.value = key.source
        // `1` and `"1"` are the same name of a property.
        const name = String(key.value ?? '')
        if (names.has(name)) {
          refuse('DUPLICATE_KEY', 'Map keys must be unique', key.range ?? [])
        }
        names.add(name)
      }
    },
  })
  if (first !== null && document.errors.length === 0) {
    try {
      if (holdsItself(document.toJS()))
        refuse(
          'BAD_ALIAS',
          'a value is part of itself; write it out, or leave the alias out',
          first,
        )
    } catch (error) {
      refuse('BAD_ALIAS', (error as Error).message, first)
    }
  }
  return document
}

/** The value of a YAML text. @throws YAMLParseError at the first fault */
export function parseYaml(text: string, options: Options & ToJSOptions = {}): unknown {
  const document = yamlDocument(text, options)
  const [error] = document.errors
  if (error !== undefined) throw error
  return document.toJS(options)
}
