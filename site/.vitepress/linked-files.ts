import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

/**
 * Files that the documents link to and that are no pages of the site, such as a schema, an example or a picture: they are copied
 * below `files/`, under their path in the repository, and the links lead there.
 */
export function linkedFiles(repository: string) {
  const linked = new Set<string>()

  /** The file of the repository that a link of a page names, or null for a page, an anchor or another site. */
  function fileOf(href: string, page: string): string | null {
    const path = href.replace(/#.*$/, '')
    if (path === '' || path.startsWith('/') || /^\w+:/.test(path)) return null
    const file = resolve(repository, 'docs', dirname(page), path)
    const isPage =
      file.endsWith('.md') && !relative(join(repository, 'docs'), file).startsWith('..')
    return isPage ? null : file
  }

  const rewrite = (md: MarkdownRenderer) =>
    md.core.ruler.push('linked-files', ({ tokens, env }) => {
      for (const token of tokens.flatMap(({ children }) => children ?? [])) {
        const file =
          token.type === 'link_open' ? fileOf(token.attrGet('href') ?? '', env.relativePath) : null
        if (file === null) continue
        if (!statSync(file).isFile())
          throw new Error(`${env.relativePath}: a link names a folder, ${file}`)
        const path = relative(repository, file)
        linked.add(path)
        token.attrSet('href', `/files/${path}`)
        token.attrSet('target', '_self')
      }
    })

  function copyTo(site: string): void {
    for (const path of linked) {
      const to = join(site, 'files', path)
      mkdirSync(dirname(to), { recursive: true })
      copyFileSync(join(repository, path), to)
    }
  }

  return { rewrite, copyTo }
}
