import { applicationMarks } from '@robokids/contracts/pages'
import { HeadContent, Scripts } from '@tanstack/react-router'
import type { PageFiles } from './server.tsx'
import textFace from './ui/fonts/atkinson-hyperlegible-next.woff2?url'
import headingFace from './ui/fonts/bricolage-grotesque.woff2?url'
import codeFace from './ui/fonts/jetbrains-mono.woff2?url'

/**
 * Runs before the first paint, for what a prerendered page cannot know of its visitor: whether scripts run, the cookie
 * banner was accepted, and somebody was signed in. Style sheets go by it, so that nothing flashes or moves.
 */
const beforePaint = `(function(){var d=document.documentElement.dataset;d.scripts="";try{if(localStorage.cookiesAccepted==="true")d.cookies="";if(localStorage.signedIn)d.signedIn=""}catch(e){}})()`

/**
 * Has the scripts asked for once something is painted: what it takes to read the page has the line and the processor for
 * itself until then. In a tab that nobody sees nothing is painted; where no paint is told of in a second, they come all the same.
 */
const afterPaint = `(function(){var t=document.getElementById("scripts"),o;function load(){if(o)o.disconnect();if(t)document.head.append(t.content);t=null}if(document.hidden)return load();setTimeout(load,1000);try{o=new PerformanceObserver(load);o.observe({type:"paint",buffered:true})}catch(e){load()}})()`

function scriptTags({ script, preloads }: PageFiles): string {
  return [
    ...preloads.map((href) => `<link rel="modulepreload" href="${href}">`),
    `<script type="module" src="${script}"></script>`,
  ].join('')
}

interface DocumentProps {
  /** The application's markup. */
  application: string
  siteUrl: string
  files: PageFiles
}

/**
 * The whole document, made when the site is built. In the browser the application is what is in `#root`: the rest needs no
 * script to stay as it is.
 */
export function Document({ application, siteUrl, files }: DocumentProps) {
  const faces = [headingFace, textFace, ...(application.includes('<code') ? [codeFace] : [])]
  return (
    <html lang="en" data-site={siteUrl}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fbfaf6" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0b1a2f" media="(prefers-color-scheme: dark)" />
        {/* Before the style sheet: what comes after that waits for it. */}
        <script dangerouslySetInnerHTML={{ __html: beforePaint }} />
        {/* One small style sheet, the same for every page: whoever goes on reading has it. */}
        {files.styles.map((href) => (
          <link key={href} rel="stylesheet" href={href} />
        ))}
        {/* The faces that the page is set in: its first text is, and nothing shifts. */}
        {faces.map((face) => (
          <link key={face} rel="preload" as="font" type="font/woff2" crossOrigin="" href={face} />
        ))}
        {/* No half page is painted, as what comes next would move what is there: only when what follows the page has come. */}
        <link rel="expect" blocking="render" href="#scripts" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="icon" href="/icons/icon-32.png" type="image/png" sizes="32x32" />
        <link rel="apple-touch-icon" href="/icons/icon-180.png" />
        <link rel="manifest" href="/site.webmanifest" />
        <link rel="alternate" type="application/rss+xml" title="News of Robo Kids Learning" href="/news/rss.xml" />
        <HeadContent />
      </head>
      <body>
        <div id="root" dangerouslySetInnerHTML={{ __html: applicationMarks.join(application) }} />
        <Scripts />
        <template id="scripts" dangerouslySetInnerHTML={{ __html: scriptTags(files) }} />
        <script dangerouslySetInnerHTML={{ __html: afterPaint }} />
      </body>
    </html>
  )
}
