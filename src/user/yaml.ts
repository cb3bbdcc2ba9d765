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

type Options = Omit<ParseOptions & DocumentOptions & SchemaOptions, 'uniqueKeys'>

/**
 * A YAML document. A name that stands twice in a mapping is an error of the document, with its place. The library compares
 * each name with all before it; this takes one look at each.
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
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items) {
        // A merge is a symbol, and may stand twice.
        if (!isScalar(key) || typeof key.value === 'symbol') continue
        // `1` and `"1"` are the same name of a property.
        const name = String(key.value ?? '')
        const [start = 0, end = 0] = key.range ?? []
        if (names.has(name)) {
          const { line, col } = lines.linePos(start)
          const error = new YAMLParseError(
            [start, end],
            'DUPLICATE_KEY',
            `Map keys must be unique at line ${line}, column ${col}`,
          )
          error.linePos = [{ line, col }]
          document.errors.push(error)
        }
        names.add(name)
      }
    },
  })
  return document
}

/** The value of a YAML text. @throws YAMLParseError at the first fault */
export function parseYaml(text: string, options: Options & ToJSOptions = {}): unknown {
  const document = yamlDocument(text, options)
  const [error] = document.errors
  if (error !== undefined) throw error
  return document.toJS(options)
}
