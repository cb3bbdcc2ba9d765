import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineConfig } from 'vitepress'
import { linkedFiles } from './linked-files.ts'
import { sectionsOf } from './sections.ts'

/** The site of `docs/`: `npm run site` builds it into `site/dist`, and fails at a link that leads nowhere. */
const repository = resolve(import.meta.dirname, '../..')
const docs = join(repository, 'docs')
const files = linkedFiles(repository)

/** A decision's first heading. */
const titleOf = (file: string) =>
  /^# (.+)$/m.exec(readFileSync(join(docs, 'decisions', file), 'utf8'))![1]!

export default defineConfig({
  title: 'Assay',
  description: 'Load-tests, audits and reports on billed text-generation APIs',
  srcDir: 'docs',
  outDir: 'dist',
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  // What looks like markup in the documents is text; the comments of generated pages are dropped.
  markdown: {
    html: false,
    config: (md) => {
      md.core.ruler.before('normalize', 'no-comments', (state) => {
        state.src = state.src.replace(/^<!--.*-->$/gm, '')
      })
      files.rewrite(md)
    },
  },
  buildEnd: ({ outDir }) => {
    files.copyTo(outDir)
    copyFileSync(join(import.meta.dirname, 'icon.svg'), join(outDir, 'icon.svg'))
  },
  // `docs` is a link to ../docs, so that pages find Vue in this folder.
  vite: { resolve: { preserveSymlinks: true } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Ship', link: '/guides/before-launch' },
      { text: 'Audit', link: '/guides/gateway-billing' },
      { text: 'Usage', link: '/guides/usage-for-customers' },
    ],
    sidebar: [
      ...sectionsOf(join(docs, 'index.md')).map(({ heading, pages }) => ({
        text: heading,
        items: pages.map(({ text, path }) => ({ text, link: `/${path}` })),
      })),
      {
        text: 'Decisions',
        collapsed: true,
        items: readdirSync(join(docs, 'decisions')).map((file) => ({
          text: titleOf(file),
          link: `/decisions/${file.replace('.md', '')}`,
        })),
      },
    ],
  },
})
