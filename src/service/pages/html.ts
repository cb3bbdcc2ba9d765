/**
 * Markup that cannot be forgotten to be escaped: what stands in a template is markup, what is put
 * into it is data, unless it was made by `html` itself.
 */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | false | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!
  parts.forEach((part, at) => {
    text += markup(part) + strings[at + 1]!
  })
  return new Html(text)
}

function markup(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === null || part === false) return ''
  if (typeof part === 'object') return part.map(markup).join('')
  return String(part)
    .replace(misleading, '\ufffd')
    .toWellFormed()
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Control characters, and marks that turn the direction of the text around them. */
const misleading =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it replaces
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
