/**
 * Markup that cannot be forgotten to be escaped: what stands in a template is markup, what is put
 * into it is data, unless it is itself made by `html`.
 */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!
  parts.forEach((part, at) => {
    text += markup(part) + strings[at + 1]!
  })
  return new Html(text)
}

/** Text that is markup already: drawings, style sheets, scripts of ours. */
export const trusted = (text: string): Html => new Html(text)

function markup(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(markup).join('')
  return escapeHtml(visible(String(part)))
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

const longestText = 2000

/**
 * A service's text as it may be shown: control characters as their pictures (ESC is ␛), marks that
 * turn the direction of text as U+FFFD, and no more than a reader would read.
 */
export function visible(text: string): string {
  const cut =
    text.length > longestText ? `${text.slice(0, longestText)}… (${text.length} characters)` : text
  return (
    cut
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it shows
      .replace(/[\u0000-\u0008\u000b-\u001f]/g, (code) =>
        String.fromCharCode(0x2400 + code.charCodeAt(0)),
      )
      .replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
      .toWellFormed()
  )
}

/** JSON inside a script element: nothing in it can end the element or start another. */
export function scriptJson(value: unknown): Html {
  return new Html(
    JSON.stringify(value)
      .replaceAll('<', '\\u003c')
      .replaceAll('>', '\\u003e')
      .replaceAll('&', '\\u0026')
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029'),
  )
}
