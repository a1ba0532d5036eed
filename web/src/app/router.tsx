import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { levelPages, PagePath } from '@robokids/contracts/pages'
import { type ProductSku, robotSpider, teddyBear } from '@robokids/contracts/products'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  type AsyncRouteComponent,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router'
import { parseSearch, stringifySearch } from '../browser/search.ts'
import { Frame } from '../frame/Frame.tsx'
import { Loading } from '../frame/Loading.tsx'
import { ScreenError } from '../frame/ScreenError.tsx'
import type { Content } from '../reading/blocks.ts'
import type { RecordParameter } from '../registration/record.ts'

export interface Context {
  queryClient: QueryClient
  /** The site's origin for absolute URLs; known where documents are rendered. */
  siteUrl: string
}

const root = createRootRouteWithContext<Context>()({
  component: Frame,
  notFoundComponent: lazyRouteComponent(() => import('../frame/NotFound.tsx'), 'NotFound'),
})

/**
 * Loaders start the queries of a screen and do not wait for them: the screen has its skeleton in the document already, and an
 * awaited loader would delay hydration and navigation. A failed query is the screen's to show.
 */
const prefetching =
  (prefetch: (queryClient: QueryClient) => Promise<void>) =>
  ({ queryClient }: Context) =>
    void prefetch(queryClient).catch(() => undefined)

const prefetchClasses = prefetching(async (queryClient) =>
  queryClient.prefetchQuery((await import('../classes/classes-query.ts')).classesQuery),
)
const prefetchShop = prefetching(async (queryClient) =>
  queryClient.prefetchQuery((await import('../shop/shop-query.ts')).shopQuery),
)

/**
 * The search parameters of each route that has any. All are optional text: `parseSearch` yields nothing else, so there is
 * nothing to convert, and no schema library in the first load. A page checks a plan or a date where it reads it.
 */
interface SearchParameters extends Record<SignUpPath, 'startDate'> {
  '/dashboard': 'card' | 'child' | 'open' | 'change'
  '/dashboard/move': 'card' | 'children' | 'to'
  '/dashboard/cancel': 'card' | 'children'
  '/dashboard/correct': 'card'
  '/choice': 'reference' | 'children' | 'to' | 'step' | 'change'
  '/robokids-payment': 'reference'
  '/robokids/success': 'reference' | RecordParameter
  '/robokids-success': 'reference' | RecordParameter
  '/robokids/receipt': 'reference'
  '/robokids/waiver': 'reference' | 'membership'
  '/waiver': 'reference' | 'membership'
  '/membership/register': 'plan'
  '/confirm': 'email'
  '/success': 'reference'
  '/shop/success': 'reference'
  '/shop/notice': 'reference'
  '/waitlist': 'classType' | 'startDate' | 'reference' | 'offer'
  '/dashboard/book': 'move'
}
type SignUpPath = '/robokids' | (typeof levelPages)[LevelClassType]
type Search<Path> = {
  [Name in Path extends keyof SearchParameters ? SearchParameters[Path] : never]?: string | undefined
}

/** A screen is imported when a link to it is hovered, focused or followed. */
function page<const Path extends PagePath>(
  path: Path,
  title: string,
  component: AsyncRouteComponent<object>,
  prefetch?: (context: Context) => void,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component,
    staticData: { title },
    // oxlint-disable-next-line typescript/no-generated-empty-object-type -- most pages have none
    validateSearch: (search): Search<Path> => search as Search<Path>,
    loader: ({ context }) => {
      if (!import.meta.env.SSR) prefetch?.(context)
    },
  })
}

function signUp(classType: LevelClassType) {
  return lazyRouteComponent(async () => {
    const { SignUp } = await import('../registration/SignUp.tsx')
    return { default: () => <SignUp classType={classType} /> }
  })
}

function product(sku: ProductSku) {
  return lazyRouteComponent(async () => {
    const { ProductPage } = await import('../shop/ProductPage.tsx')
    return { default: () => <ProductPage sku={sku} /> }
  })
}

/** Imports a module of contents, one of which is called so: shorter in the first load than a function that picks it. */
type LoadContent<Name extends string> = () => Promise<Record<Name, Content>>

/** A page that is only read: its screen and its content. */
function contentPage<Name extends string>(load: LoadContent<Name>, name: Name) {
  return lazyRouteComponent(async () => {
    const [{ ContentPage }, contents] = await Promise.all([import('../reading/ContentPage.tsx'), load()])
    return { default: () => <ContentPage content={contents[name]} /> }
  })
}

/** A guide also needs its circuits and sketches. */
function guidePage<Name extends string>(load: LoadContent<Name>, name: Name) {
  return lazyRouteComponent(async () => {
    const [{ ContentPage }, { showGuideBlock }, contents] = await Promise.all([
      import('../reading/ContentPage.tsx'),
      import('../guides/GuideBlocks.tsx'),
      load(),
    ])
    return { default: () => <ContentPage content={contents[name]} ownBlock={showGuideBlock} /> }
  })
}

const home = lazyRouteComponent(() => import('../home/Home.tsx'), 'Home')
const landing = lazyRouteComponent(() => import('../classes/Landing.tsx'), 'Landing')
const payment = lazyRouteComponent(() => import('../registration/Payment.tsx'), 'Payment')
const confirmation = lazyRouteComponent(() => import('../registration/Confirmation.tsx'), 'Confirmation')
const receipt = lazyRouteComponent(() => import('../registration/Receipt.tsx'), 'Receipt')
const membership = lazyRouteComponent(() => import('../membership/Membership.tsx'), 'Membership')
const membershipRegister = lazyRouteComponent(
  () => import('../membership/MembershipRegister.tsx'),
  'MembershipRegister',
)
const login = lazyRouteComponent(() => import('../account/Login.tsx'), 'Login')
const confirm = lazyRouteComponent(() => import('../account/Confirm.tsx'), 'Confirm')
const membershipSuccess = lazyRouteComponent(() => import('../membership/MembershipSuccess.tsx'), 'MembershipSuccess')
const oauthRedirect = lazyRouteComponent(() => import('../account/OauthRedirect.tsx'), 'OauthRedirect')
const dashboard = lazyRouteComponent(() => import('../dashboard/Dashboard.tsx'), 'Dashboard')
const move = lazyRouteComponent(() => import('../dashboard/changes.ts'), 'MovePage')
const cancel = lazyRouteComponent(() => import('../dashboard/changes.ts'), 'CancelPage')
const correct = lazyRouteComponent(() => import('../dashboard/changes.ts'), 'CorrectPage')
const choice = lazyRouteComponent(() => import('../dashboard/changes.ts'), 'ChoicePage')
const book = lazyRouteComponent(() => import('../dashboard/changes.ts'), 'BookPage')
const profile = lazyRouteComponent(() => import('../profile/Profile.tsx'), 'Profile')
const waiver = lazyRouteComponent(() => import('../waiver/Waiver.tsx'), 'Waiver')
const waitlist = lazyRouteComponent(() => import('../waitlist/Waitlist.tsx'), 'Waitlist')
const shop = lazyRouteComponent(() => import('../shop/Shop.tsx'), 'Shop')
const order = lazyRouteComponent(() => import('../shop/OrderPage.tsx'), 'OrderPage')
const notice = lazyRouteComponent(() => import('../shop/NoticePage.tsx'), 'NoticePage')
const about = contentPage(() => import('../content/about.ts'), 'about')
const founder = contentPage(() => import('../content/about.ts'), 'founder')
const director = contentPage(() => import('../content/about.ts'), 'director')
const contact = lazyRouteComponent(() => import('../contact/Contact.tsx'), 'Contact')
const faq = contentPage(() => import('../content/faq.ts'), 'faq')
const levels = lazyRouteComponent(() => import('../classes/Levels.tsx'), 'Levels')
const privacy = contentPage(() => import('../content/privacy.ts'), 'privacy')
const terms = contentPage(() => import('../content/terms.ts'), 'terms')
const newsAndGuides = contentPage(() => import('../news/news-pages.ts'), 'newsAndGuides')
const newsPage = contentPage(() => import('../news/news-pages.ts'), 'newsPage')
const blog = contentPage(() => import('../news/blog.ts'), 'blog')
const welcome = contentPage(() => import('../news/welcome.ts'), 'welcome')
const securityBasics = contentPage(() => import('../news/security-basics.ts'), 'securityBasics')
const fallLaunch = contentPage(() => import('../news/fall-launch.ts'), 'fallLaunch')
const bugbots = contentPage(() => import('../news/bugbots.ts'), 'bugbots')
const lightSwitch = guidePage(() => import('../guides/light-switch.ts'), 'lightSwitch')
const motorGuide = guidePage(() => import('../guides/motor.ts'), 'motorGuide')
const servoGuide = guidePage(() => import('../guides/servo.ts'), 'servoGuide')
const innovator = contentPage(() => import('../content/innovator.ts'), 'innovator')
const follow = contentPage(() => import('../content/follow.ts'), 'follow')
const designSystem = lazyRouteComponent(() => import('../design-system/DesignSystem.tsx'), 'DesignSystem')

/** Not a screen: leads to another page. */
function away<const Path extends string>(path: Path, to: PagePath) {
  return createRoute({
    getParentRoute: () => root,
    path,
    beforeLoad: () => {
      throw redirect({ to, replace: true })
    },
  })
}

const routeTree = root.addChildren([
  page('/', 'Empowering Kids to Build the Future', home),
  page('/shop', 'Shop', shop, prefetchShop),
  page('/shop/robot-spider', 'Robot Spider', product(robotSpider), prefetchShop),
  page('/shop/teddy-bear', 'AI Teddy Bear Companion', product(teddyBear), prefetchShop),
  page('/shop/success', 'Your order', order),
  page('/shop/notice', 'Shop alert', notice),
  page('/robokidslanding', 'Live robotics classes', landing, prefetchClasses),
  page('/levels', 'Compare levels', levels, prefetchClasses),
  page('/robokids', 'Level 1 Foundations', signUp('basic'), prefetchClasses),
  page('/robokidspage1', 'Level 1 Foundations', signUp('basic'), prefetchClasses),
  page('/robokidspage2', 'Level 2 Smart Robotics and Coding', signUp('intermediate'), prefetchClasses),
  page('/robokidspage3', 'Level 3 Autonomous Mastery', signUp('advanced'), prefetchClasses),
  page('/robokidspage4', 'Level X Custom Innovation Lab', signUp('custom'), prefetchClasses),
  page('/robokids-payment', 'Payment', payment),
  page('/robokids/success', 'Your registration', confirmation),
  page('/robokids-success', 'Your registration', confirmation),
  page('/robokids/receipt', 'Receipt', receipt),
  page('/robokids/waiver', 'Waiver', waiver),
  page('/waiver', 'Waiver', waiver),
  page('/waitlist', 'Waitlist', waitlist),
  page('/membership', 'Membership', membership),
  page('/membership/register', 'Create Your ChronoTech Account', membershipRegister),
  page('/membership/login', 'Log in', login),
  page('/confirm', 'Confirm Your Email', confirm),
  page('/success', 'Payment', membershipSuccess),
  page('/oauth-redirect', 'Processing login', oauthRedirect),
  page('/dashboard', 'Your classes', dashboard),
  page('/dashboard/move', 'Move a class', move),
  page('/dashboard/cancel', 'Cancel a class', cancel),
  page('/dashboard/correct', 'Correct a name or the address', correct),
  page('/choice', 'Your choice', choice),
  page('/dashboard/book', 'Book a class', book),
  page('/profile', 'Your profile', profile),
  page('/about', 'About us', about),
  page('/about/founder-robo-kids-learning', 'The founder', founder),
  page('/about/director-educational-services', 'The Director of Educational Services', director),
  page('/contact', 'Contact Us', contact),
  page('/faq', 'FAQ', faq),
  page('/privacy', 'Privacy Policy', privacy),
  page('/terms', 'Terms of Service', terms),
  page('/news-guides', 'News & Guides', newsAndGuides),
  page('/news', 'News', newsPage),
  page('/blog', 'Blog', blog),
  page('/news/welcome', 'Welcome to Robo Kids Learning', welcome),
  page('/news/security-basics', 'How to tell a safe website', securityBasics),
  page('/news/fall-launch', 'Fall 2025 classes', fallLaunch, prefetchClasses),
  page('/news/bugbots', 'Bug robots', bugbots),
  page('/guides/light-switch', 'Guide: light switch', lightSwitch),
  page('/guides/motor-guide', 'Guide: motor', motorGuide),
  page('/guides/servo-guide', 'Guide: servo', servoGuide),
  page('/innovator', 'Innovator Program', innovator),
  page('/follow', 'Follow Us', follow),
  page('/design-system', 'Design system', designSystem),
  away('/admin', '/'),
  away('/guides', '/news-guides'),
])

interface RouterOptions {
  siteUrl?: string
  history?: RouterHistory
}

export function buildRouter(queryClient: QueryClient, { siteUrl = '', history }: RouterOptions = {}) {
  return createRouter({
    routeTree,
    ...(history ? { history } : {}),
    context: { queryClient, siteUrl },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ScreenError,
    scrollRestoration: true,
    Wrap: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  })
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page's part of the document's title. */
    title?: string
  }
  interface Register {
    router: ReturnType<typeof buildRouter>
  }
}
