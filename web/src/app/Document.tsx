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
 * Runs before the first paint and sets what a prerendered page cannot know: whether scripts run, the cookie banner was
 * accepted, a user was signed in, and something is in the cart. Style sheets use it, so that nothing flashes or moves.
 */
const beforePaint = `(function(){var d=document.documentElement.dataset;d.scripts="";try{if(localStorage.cookiesAccepted==="true")d.cookies="";if(localStorage.signedIn)d.signedIn="";if(sessionStorage.cart)d.cart=""}catch(e){}})()`

/**
 * Handles a style sheet or a script that fails to load, as when a new version was deployed between the document and its
 * files. It reloads the page, at most once a minute and only if the server responds; otherwise it shows a message, since the
 * forms stay disabled. Once hydrated, the application handles its own imports.
 */
const whenFilesAreMissing = `addEventListener("error",function(e){var t=e.target,s=false;if(!t.matches||!t.matches("script,[rel=stylesheet]")||"hydrated"in document.documentElement.dataset)return;function tell(){var n=document.getElementById("not-whole");n.hidden=false;n.lastChild.onclick=function(){location.reload()}}function show(){document.readyState==="loading"?addEventListener("DOMContentLoaded",tell):tell()}try{s=!(Date.now()-sessionStorage.loadedAnew<6e4);sessionStorage.loadedAnew=Date.now()}catch(e){s=false}if(!s)return show();fetch(location.href,{method:"HEAD"}).then(function(r){r.ok?location.reload():show()},show)},true)`

/**
 * Loads the scripts after the first paint: until then the bandwidth and the processor go to the content. A hidden tab paints
 * nothing and loads them at once; if no paint is reported within a second, they are loaded all the same.
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
 * The whole document, rendered when the site is built. The browser hydrates `#root` alone: the rest, including the footer and
 * the cookie banner, is static.
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
        {/* Before the style sheet, which blocks the scripts after it. */}
        <script dangerouslySetInnerHTML={{ __html: `${beforePaint};${whenFilesAreMissing}` }} />
        {/* One small style sheet for all pages, cached from the first. */}
        {files.styles.map((href) => (
          <link key={href} rel="stylesheet" href={href} />
        ))}
        {/* Preloaded, so that no text shifts when its font arrives. */}
        {faces.map((face) => (
          <link key={face} rel="preload" as="font" type="font/woff2" crossOrigin="" href={face} />
        ))}
        {/* Blocks painting until the whole body is parsed: a partial page would shift. */}
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
          <p>Part of this page didn’t load and may not work.</p>
          <button type="button">Reload</button>
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
