import { readFileSync } from 'node:fs'
import { pageStyle } from '../../chart/page-style.ts'
import { hashOf } from '../../report/document.ts'
import { boardScript } from '../../report/usage/board/board.ts'
import { type Html, html, trusted } from '../../user/html.ts'
import { once, onceForEach } from '../../user/once.ts'
import type { Settings } from '../settings/settings.ts'
import { firstColour, grounds, mixedUntilReadable } from './accent.ts'
import type { Speech } from './speech.ts'

const own = (name: string) =>
  readFileSync(new URL(`../../../src/portal/page/${name}`, import.meta.url), 'utf8')

export interface PortalDocument {
  readonly text: string
  /** Content-Security-Policy. */
  readonly policy: string
}

/** The style of all pages with an accent. Its files never change while a process runs. */
const styleOf = onceForEach((accent: string): string => {
  const dark = mixedUntilReadable(accent, '#ffffff', grounds.dark)
  const style = asSent(
    `${reportStyle()}:root{--light-accent:${accent};--dark-accent:${dark};--light-first:${firstColour(accent, 'light')};--dark-first:${firstColour(dark, 'dark')}}\n${own('page.css')}`,
  )
  return style + modes(style)
})

const darkRoot = /@media \(prefers-color-scheme: ?dark\) ?\{\s*:root\s*\{([^}]*)\}\s*\}/g
/** A block of rules under one condition. */
const conditional = /@media[^{]*\{(?:[^{}]|\{[^{}]*\})*\}/g

/** The same colours for a host that says `light` or `dark` itself. */
function modes(style: string): string {
  const mode = (name: string, rules: Iterable<RegExpMatchArray>) =>
    `:root[data-mode="${name}"]{${[...rules].map(([, colours]) => colours).join(';')};color-scheme:${name}}`
  const light = style.replace(conditional, '').matchAll(/:root\s*\{([^}]*)\}/g)
  return `@media screen{${mode('light', light)}${mode('dark', style.matchAll(darkRoot))}}`
}

const reportStyle = () => pageStyle(new URL('../../../src/report/page.css', import.meta.url))

/** Comments, breaks, and spaces beside brackets, colons and commas of a style sheet are for its writers. */
const asSent = (style: string) =>
  style
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/(?<=[{};,:]) | (?=[{}])/g, '')
    .replaceAll(';}', '}')

/** The board, and what brings its content and follows it. */
const pageScript = once(() => boardScript(own('export.js'), own('page.js')))

/**
 * The document around the content. Without content, it is a shell whose script fetches it with the token of the address.
 *
 * @param origins who may frame it
 */
export function pageDocument(
  content: Html | null,
  settings: Settings,
  speech: Pick<Speech, 'locale' | 'say'>,
  origins: readonly string[],
): PortalDocument {
  const style = styleOf(settings.accent)
  const script = pageScript()
  const ancestors = origins.length === 0 ? "'none'" : origins.join(' ')
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')
  const text = html`<!doctype html>
<html lang="${speech.locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><link rel="icon" href="${settings.logo === undefined ? 'data:,' : 'logo'}"><title>${speech.say('title')} · ${settings.product}</title><style>${trusted(style)}</style></head>
<body data-origins="${origins.join(' ')}" data-expired="${speech.say('token.expired')}" data-busy="${speech.say('page.busy')}" data-failed="${speech.say('page.failed')}">${content ?? html`<main class="page" data-shell><p role="status">${speech.say('page.loading')}</p></main>`}<script>${trusted(script)}</script></body>
</html>
`.text
  return { text, policy: `${policy}; frame-ancestors ${ancestors}` }
}

/** The page as a file: the same content, without a server. */
export function offlineDocument(
  content: Html,
  settings: Settings,
  speech: Speech,
  logo: string | null,
): string {
  const style = styleOf(settings.accent)
  const script = boardScript()
  const text = content.text.replace('src="logo"', () =>
    logo === null ? '' : `src="data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}"`,
  )
  return html`<!doctype html>
<html lang="${speech.locale}">
<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${trusted(hashOf(style))}; script-src ${trusted(hashOf(script))}; img-src data:; base-uri 'none'; form-action 'none'"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${speech.say('title')} · ${settings.product}</title><style>${trusted(style)}</style></head>
<body data-file>${trusted(text)}<script>${trusted(script)}</script></body>
</html>
`.text
}
