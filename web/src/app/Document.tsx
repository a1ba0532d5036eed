import { applicationMarkers } from '@robokids/contracts/pages'
import { HeadContent, Scripts } from '@tanstack/react-router'
import { CookieBanner } from '../cookies/CookieBanner.tsx'
import { BrandSign } from '../frame/BrandSign.tsx'
import { Footer } from '../frame/Footer.tsx'
import textFace from '../ui/fonts/atkinson-hyperlegible-next.woff2?url'
import zero from '../ui/fonts/bricolage-grotesque-zero.woff2?url'
import headingFace from '../ui/fonts/bricolage-grotesque.woff2?url'
import codeFace from '../ui/fonts/jetbrains-mono.woff2?url'
import type { PageFiles } from './page-files.ts'

/**
 * Runs before the first paint, for what a prerendered page cannot know of its visitor: whether scripts run, the cookie
 * banner was accepted, somebody was signed in, and something is in the cart. Style sheets go by it, so that nothing flashes or moves.
 */
const beforePaint = `(function(){var d=document.documentElement.dataset;d.scripts="";try{if(localStorage.cookiesAccepted==="true")d.cookies="";if(localStorage.signedIn)d.signedIn="";if(sessionStorage.cart)d.cart=""}catch(e){}})()`

/**
 * Notices that a style sheet or a script does not come, as where another version of the site has answered for the page than
 * for its files. The page is loaded anew, once in a minute and where the server is there; otherwise a line says so, as
 * nothing else would: the forms stay disabled. Once the application is there it looks after what it loads itself.
 */
const whenFilesAreMissing = `addEventListener("error",function(e){var t=e.target,s=false;if(!t.matches||!t.matches("script,[rel=stylesheet]")||"hydrated"in document.documentElement.dataset)return;function tell(){var n=document.getElementById("not-whole");n.hidden=false;n.lastChild.onclick=function(){location.reload()}}function show(){document.readyState==="loading"?addEventListener("DOMContentLoaded",tell):tell()}try{s=!(Date.now()-sessionStorage.loadedAnew<6e4);sessionStorage.loadedAnew=Date.now()}catch(e){s=false}if(!s)return show();fetch(location.href,{method:"HEAD"}).then(function(r){r.ok?location.reload():show()},show)},true)`

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
 * The whole document, made when the site is built. In the browser the application is what is in `#root`: the rest, and
 * the footer and the cookie banner are of it, needs no script to stay as it is, and costs none.
 */
export function Document({ application, siteUrl, files }: DocumentProps) {
  const faces = [headingFace, textFace, zero, ...(application.includes('<code') ? [codeFace] : [])]
  return (
    <html lang="en" data-site={siteUrl}>
      <head>
        <meta charSet="utf-8" />
        <meta
          name="viewport"
          content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
        />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fbfaf6" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0b1a2f" media="(prefers-color-scheme: dark)" />
        {/* Before the style sheet: what comes after that waits for it. */}
        <script dangerouslySetInnerHTML={{ __html: `${beforePaint};${whenFilesAreMissing}` }} />
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
        <div id="not-whole" role="alert" hidden>
          <p>This page could not be loaded whole: some of it may not work.</p>
          <button type="button">Load it again</button>
        </div>
        <BrandSign />
        <div id="root" dangerouslySetInnerHTML={{ __html: applicationMarkers.join(application) }} />
        <Footer />
        <CookieBanner />
        <Scripts />
        <template id="scripts" dangerouslySetInnerHTML={{ __html: scriptTags(files) }} />
        <script dangerouslySetInnerHTML={{ __html: afterPaint }} />
      </body>
    </html>
  )
}
