// Written by `css-modules.test.ts`.

declare module '*/AccountPage.module.css' {
  const styles: {
    readonly ground: string
    readonly head: string
    readonly lead: string
    readonly sheet: string
  }
  export default styles
}

declare module '*/PasswordChecklist.module.css' {
  const styles: {
    readonly met: string
    readonly rules: string
  }
  export default styles
}

declare module '*/TotpSetUp.module.css' {
  const styles: {
    readonly missing: string
    readonly picture: string
    readonly secret: string
    readonly setUp: string
    readonly words: string
  }
  export default styles
}

declare module '*/LongWait.module.css' {
  const styles: {
    readonly ways: string
  }
  export default styles
}

declare module '*/NextSteps.module.css' {
  const styles: {
    readonly done: string
    readonly dot: string
    readonly next: string
    readonly step: string
    readonly steps: string
    readonly text: string
  }
  export default styles
}

declare module '*/PayBar.module.css' {
  const styles: {
    readonly bar: string
    readonly saving: string
    readonly told: string
    readonly total: string
  }
  export default styles
}

declare module '*/SaleTerms.module.css' {
  const styles: {
    readonly terms: string
  }
  export default styles
}

declare module '*/StatusPage.module.css' {
  const styles: {
    readonly actions: string
    readonly page: string
  }
  export default styles
}

declare module '*/Ticket.module.css' {
  const styles: {
    readonly actions: string
    readonly picture: string
    readonly ticket: string
    readonly what: string
    readonly when: string
    readonly who: string
    readonly words: string
  }
  export default styles
}

declare module '*/WayOnDialog.module.css' {
  const styles: {
    readonly amounts: string
    readonly aside: string
    readonly changed: string
    readonly terms: string
  }
  export default styles
}

declare module '*/ClassMoment.module.css' {
  const styles: {
    readonly whole: string
  }
  export default styles
}

declare module '*/DateCards.module.css' {
  const styles: {
    readonly card: string
    readonly full: string
    readonly group: string
    readonly hint: string
    readonly left: string
    readonly next: string
    readonly soft: string
    readonly wait: string
    readonly waiting: string
    readonly when: string
  }
  export default styles
}

declare module '*/Landing.module.css' {
  const styles: {
    readonly avatar: string
    readonly go: string
    readonly hero: string
    readonly heroInner: string
    readonly heroPicture: string
    readonly heroWords: string
    readonly kicker: string
    readonly lead: string
    readonly levels: string
    readonly levelsHead: string
    readonly moreDates: string
    readonly price: string
    readonly promotion: string
    readonly quote: string
    readonly quotes: string
    readonly reason: string
    readonly reasons: string
    readonly section: string
    readonly soft: string
    readonly strip: string
    readonly tick: string
    readonly way: string
    readonly ways: string
    readonly who: string
  }
  export default styles
}

declare module '*/LevelCard.module.css' {
  const styles: {
    readonly action: string
    readonly card: string
    readonly dates: string
    readonly datesTitle: string
    readonly description: string
    readonly facts: string
    readonly full: string
    readonly list: string
    readonly none: string
    readonly picture: string
    readonly price: string
    readonly promise: string
    readonly time: string
    readonly title: string
    readonly words: string
  }
  export default styles
}

declare module '*/Levels.module.css' {
  const styles: {
    readonly answer: string
    readonly cellName: string
    readonly chooser: string
    readonly hero: string
    readonly heroInner: string
    readonly kicker: string
    readonly lead: string
    readonly name: string
    readonly price: string
    readonly question: string
    readonly questions: string
    readonly section: string
    readonly select: string
    readonly soft: string
    readonly table: string
    readonly title: string
    readonly words: string
  }
  export default styles
}

declare module '*/SeatsLeft.module.css' {
  const styles: {
    readonly few: string
    readonly free: string
    readonly seats: string
  }
  export default styles
}

declare module '*/ContactForm.module.css' {
  const styles: {
    readonly pair: string
    readonly sheet: string
  }
  export default styles
}

declare module '*/CookieBanner.module.css' {
  const styles: {
    readonly banner: string
    readonly inner: string
  }
  export default styles
}

declare module '*/Badge.module.css' {
  const styles: {
    readonly badge: string
    readonly done: string
    readonly note: string
    readonly wrong: string
  }
  export default styles
}

declare module '*/CalendarPart.module.css' {
  const styles: {
    readonly address: string
    readonly buttons: string
    readonly note: string
  }
  export default styles
}

declare module '*/Change.module.css' {
  const styles: {
    readonly child: string
    readonly group: string
    readonly money: string
  }
  export default styles
}

declare module '*/Children.module.css' {
  const styles: {
    readonly chip: string
    readonly chips: string
  }
  export default styles
}

declare module '*/ClassCard.module.css' {
  const styles: {
    readonly card: string
    readonly head: string
    readonly row: string
    readonly rows: string
    readonly tracking: string
    readonly what: string
    readonly who: string
  }
  export default styles
}

declare module '*/ClassLink.module.css' {
  const styles: {
    readonly code: string
    readonly passcode: string
  }
  export default styles
}

declare module '*/Dashboard.module.css' {
  const styles: {
    readonly column: string
    readonly columns: string
    readonly email: string
    readonly head: string
    readonly narrow: string
    readonly page: string
    readonly quiet: string
    readonly updates: string
    readonly waiting: string
  }
  export default styles
}

declare module '*/Meetings.module.css' {
  const styles: {
    readonly ahead: string
    readonly all: string
    readonly center: string
    readonly dates: string
    readonly dots: string
    readonly gone: string
    readonly next: string
    readonly number: string
    readonly over: string
    readonly summary: string
    readonly whole: string
  }
  export default styles
}

declare module '*/Moment.module.css' {
  const styles: {
    readonly whole: string
  }
  export default styles
}

declare module '*/Next.module.css' {
  const styles: {
    readonly day: string
    readonly label: string
    readonly near: string
    readonly next: string
    readonly what: string
    readonly words: string
  }
  export default styles
}

declare module '*/Orders.module.css' {
  const styles: {
    readonly head: string
    readonly name: string
    readonly order: string
    readonly orders: string
    readonly text: string
  }
  export default styles
}

declare module '*/PastClasses.module.css' {
  const styles: {
    readonly list: string
    readonly past: string
    readonly summary: string
  }
  export default styles
}

declare module '*/ToDo.module.css' {
  const styles: {
    readonly sign: string
    readonly task: string
    readonly tasks: string
    readonly text: string
  }
  export default styles
}

declare module '*/DesignSystem.module.css' {
  const styles: {
    readonly bar: string
    readonly frame: string
    readonly hero: string
    readonly narrow: string
    readonly page: string
    readonly part: string
    readonly row: string
    readonly swatch: string
    readonly tile: string
    readonly tiles: string
    readonly wide: string
    readonly words: string
  }
  export default styles
}

declare module '*/Form.module.css' {
  const styles: {
    readonly advice: string
    readonly aside: string
    readonly error: string
    readonly form: string
    readonly line: string
    readonly or: string
    readonly problems: string
    readonly row: string
    readonly stack: string
    readonly success: string
  }
  export default styles
}

declare module '*/Brand.module.css' {
  const styles: {
    readonly brand: string
    readonly name: string
    readonly sign: string
    readonly store: string
  }
  export default styles
}

declare module '*/Footer.module.css' {
  const styles: {
    readonly footer: string
    readonly inner: string
    readonly name: string
    readonly place: string
    readonly words: string
  }
  export default styles
}

declare module '*/Frame.module.css' {
  const styles: {
    readonly frame: string
    readonly main: string
    readonly skip: string
  }
  export default styles
}

declare module '*/Loading.module.css' {
  const styles: {
    readonly loading: string
  }
  export default styles
}

declare module '*/MenuSheet.module.css' {
  const styles: {
    readonly close: string
    readonly head: string
    readonly link: string
    readonly links: string
    readonly sheet: string
    readonly slide: string
    readonly title: string
  }
  export default styles
}

declare module '*/MoreMenu.module.css' {
  const styles: {
    readonly button: string
    readonly drop: string
    readonly link: string
    readonly list: string
    readonly more: string
  }
  export default styles
}

declare module '*/NotFound.module.css' {
  const styles: {
    readonly actions: string
    readonly page: string
    readonly picture: string
    readonly text: string
  }
  export default styles
}

declare module '*/TopNavigation.module.css' {
  const styles: {
    readonly bar: string
    readonly cart: string
    readonly header: string
    readonly link: string
    readonly links: string
    readonly menu: string
    readonly narrow: string
    readonly reserved: string
    readonly unlessKnown: string
    readonly wide: string
  }
  export default styles
}

declare module '*/CodeSample.module.css' {
  const styles: {
    readonly code: string
    readonly comment: string
    readonly function: string
    readonly head: string
    readonly keyword: string
    readonly name: string
    readonly number: string
    readonly said: string
    readonly sample: string
    readonly string: string
  }
  export default styles
}

declare module '*/WiringGuide.module.css' {
  const styles: {
    readonly black: string
    readonly blue: string
    readonly drawing: string
    readonly green: string
    readonly orange: string
    readonly red: string
    readonly steps: string
    readonly swatch: string
    readonly wiring: string
    readonly yellow: string
  }
  export default styles
}

declare module '*/HeroSlider.module.css' {
  const styles: {
    readonly control: string
    readonly controls: string
    readonly dot: string
    readonly dots: string
    readonly picture: string
    readonly shown: string
    readonly slide: string
    readonly slider: string
    readonly stage: string
    readonly still: string
    readonly text: string
    readonly words: string
  }
  export default styles
}

declare module '*/Home.module.css' {
  const styles: {
    readonly cover: string
    readonly feature: string
    readonly featurePicture: string
    readonly featureWords: string
    readonly features: string
    readonly go: string
    readonly hero: string
    readonly inner: string
    readonly parts: string
    readonly section: string
    readonly soft: string
    readonly spider: string
    readonly spiderPicture: string
    readonly spiderWords: string
    readonly tagline: string
    readonly value: string
    readonly valuePicture: string
    readonly valueTitle: string
    readonly values: string
  }
  export default styles
}

declare module '*/Membership.module.css' {
  const styles: {
    readonly actions: string
    readonly gets: string
    readonly hero: string
    readonly heroInner: string
    readonly kicker: string
    readonly lead: string
    readonly picture: string
    readonly plan: string
    readonly plans: string
    readonly price: string
    readonly section: string
    readonly soft: string
    readonly steps: string
    readonly words: string
  }
  export default styles
}

declare module '*/MembershipRegister.module.css' {
  const styles: {
    readonly aside: string
    readonly columns: string
    readonly decoy: string
    readonly empty: string
    readonly end: string
    readonly group: string
    readonly head: string
    readonly page: string
    readonly pair: string
    readonly place: string
    readonly plan: string
    readonly plans: string
    readonly sheet: string
    readonly soft: string
    readonly steps: string
  }
  export default styles
}

declare module '*/MembershipSuccess.module.css' {
  const styles: {
    readonly confirm: string
    readonly page: string
  }
  export default styles
}

declare module '*/Profile.module.css' {
  const styles: {
    readonly column: string
    readonly columns: string
    readonly email: string
    readonly head: string
    readonly initials: string
    readonly narrow: string
    readonly page: string
    readonly waiting: string
    readonly who: string
  }
  export default styles
}

declare module '*/Blocks.module.css' {
  const styles: {
    readonly facts: string
    readonly list: string
    readonly note: string
    readonly phase: string
    readonly phases: string
    readonly picture: string
    readonly question: string
    readonly steps: string
    readonly table: string
    readonly troubles: string
  }
  export default styles
}

declare module '*/Cards.module.css' {
  const styles: {
    readonly card: string
    readonly cards: string
    readonly cover: string
    readonly go: string
    readonly meta: string
    readonly picture: string
    readonly snippet: string
    readonly words: string
  }
  export default styles
}

declare module '*/ContentPage.module.css' {
  const styles: {
    readonly blocks: string
    readonly body: string
    readonly contents: string
    readonly contentsTitle: string
    readonly date: string
    readonly entries: string
    readonly heading: string
    readonly hero: string
    readonly heroInner: string
    readonly kicker: string
    readonly lead: string
    readonly next: string
    readonly picture: string
    readonly section: string
    readonly sideHeadings: string
    readonly text: string
    readonly wide: string
    readonly withContents: string
    readonly words: string
  }
  export default styles
}

declare module '*/Payment.module.css' {
  const styles: {
    readonly aside: string
    readonly due: string
    readonly notes: string
  }
  export default styles
}

declare module '*/Receipt.module.css' {
  const styles: {
    readonly aside: string
    readonly from: string
    readonly paper: string
  }
  export default styles
}

declare module '*/SignUp.module.css' {
  const styles: {
    readonly about: string
    readonly columns: string
    readonly fact: string
    readonly facts: string
    readonly form: string
    readonly head: string
    readonly list: string
    readonly marks: string
    readonly numbered: string
    readonly page: string
    readonly part: string
    readonly pictures: string
    readonly price: string
    readonly priceRoom: string
    readonly promotion: string
    readonly small: string
  }
  export default styles
}

declare module '*/SignUpForm.module.css' {
  const styles: {
    readonly add: string
    readonly aside: string
    readonly child: string
    readonly end: string
    readonly form: string
    readonly group: string
    readonly known: string
    readonly place: string
    readonly sibling: string
  }
  export default styles
}

declare module '*/Cart.module.css' {
  const styles: {
    readonly aside: string
    readonly count: string
    readonly lines: string
    readonly name: string
    readonly sum: string
    readonly total: string
    readonly unsold: string
  }
  export default styles
}

declare module '*/CartLink.module.css' {
  const styles: {
    readonly cart: string
    readonly count: string
  }
  export default styles
}

declare module '*/NoticeDialog.module.css' {
  const styles: {
    readonly form: string
  }
  export default styles
}

declare module '*/OrderPage.module.css' {
  const styles: {
    readonly page: string
  }
  export default styles
}

declare module '*/ProductCard.module.css' {
  const styles: {
    readonly actions: string
    readonly card: string
    readonly inCart: string
    readonly mark: string
    readonly picture: string
    readonly points: string
    readonly price: string
    readonly priceLine: string
    readonly text: string
    readonly title: string
    readonly words: string
  }
  export default styles
}

declare module '*/ProductPage.module.css' {
  const styles: {
    readonly actions: string
    readonly facts: string
    readonly kicker: string
    readonly lead: string
    readonly mark: string
    readonly page: string
    readonly picture: string
    readonly price: string
    readonly priceLine: string
    readonly soft: string
    readonly words: string
  }
  export default styles
}

declare module '*/Shop.module.css' {
  const styles: {
    readonly cart: string
    readonly empty: string
    readonly hero: string
    readonly heroInner: string
    readonly kicker: string
    readonly lead: string
    readonly page: string
    readonly products: string
  }
  export default styles
}

declare module '*/Accordion.module.css' {
  const styles: {
    readonly accordion: string
    readonly answer: string
    readonly item: string
    readonly question: string
  }
  export default styles
}

declare module '*/Alert.module.css' {
  const styles: {
    readonly alert: string
    readonly content: string
    readonly rise: string
  }
  export default styles
}

declare module '*/Button.module.css' {
  const styles: {
    readonly button: string
    readonly danger: string
    readonly primary: string
    readonly quiet: string
    readonly secondary: string
    readonly turn: string
    readonly wide: string
  }
  export default styles
}

declare module '*/Card.module.css' {
  const styles: {
    readonly banded: string
    readonly card: string
  }
  export default styles
}

declare module '*/Checkbox.module.css' {
  const styles: {
    readonly box: string
    readonly field: string
    readonly label: string
  }
  export default styles
}

declare module '*/Details.module.css' {
  const styles: {
    readonly details: string
    readonly row: string
  }
  export default styles
}

declare module '*/Dialog.module.css' {
  const styles: {
    readonly content: string
    readonly dialog: string
    readonly title: string
  }
  export default styles
}

declare module '*/DisabledUntilHydrated.module.css' {
  const styles: {
    readonly fields: string
    readonly note: string
  }
  export default styles
}

declare module '*/Drawing.module.css' {
  const styles: {
    readonly drawing: string
  }
  export default styles
}

declare module '*/Labelled.module.css' {
  const styles: {
    readonly control: string
    readonly error: string
    readonly field: string
    readonly hint: string
    readonly label: string
    readonly optional: string
  }
  export default styles
}

declare module '*/Notice.module.css' {
  const styles: {
    readonly error: string
    readonly info: string
    readonly notice: string
    readonly sign: string
    readonly success: string
    readonly title: string
    readonly words: string
  }
  export default styles
}

declare module '*/Section.module.css' {
  const styles: {
    readonly badge: string
    readonly detail: string
    readonly do: string
    readonly facts: string
    readonly inset: string
    readonly item: string
    readonly items: string
    readonly lead: string
    readonly name: string
    readonly note: string
    readonly open: string
    readonly section: string
    readonly title: string
    readonly what: string
  }
  export default styles
}

declare module '*/Skeleton.module.css' {
  const styles: {
    readonly breathe: string
    readonly skeleton: string
  }
  export default styles
}

declare module '*/Slideshow.module.css' {
  const styles: {
    readonly caption: string
    readonly control: string
    readonly controls: string
    readonly count: string
    readonly picture: string
    readonly shown: string
    readonly slide: string
    readonly slideshow: string
    readonly stage: string
    readonly still: string
  }
  export default styles
}

declare module '*/Steps.module.css' {
  const styles: {
    readonly done: string
    readonly dot: string
    readonly now: string
    readonly step: string
    readonly steps: string
  }
  export default styles
}

declare module '*/TakesLonger.module.css' {
  const styles: {
    readonly late: string
    readonly note: string
  }
  export default styles
}

declare module '*/Toast.module.css' {
  const styles: {
    readonly close: string
    readonly come: string
    readonly text: string
    readonly toast: string
  }
  export default styles
}

declare module '*/choice.module.css' {
  const styles: {
    readonly choice: string
  }
  export default styles
}

declare module '*/form.module.css' {
  const styles: {
    readonly group: string
  }
  export default styles
}

declare module '*/page.module.css' {
  const styles: {
    readonly column: string
    readonly cover: string
    readonly go: string
    readonly hero: string
    readonly kicker: string
    readonly lead: string
    readonly words: string
  }
  export default styles
}

declare module '*/Waitlist.module.css' {
  const styles: {
    readonly aside: string
    readonly end: string
    readonly form: string
    readonly group: string
    readonly left: string
  }
  export default styles
}

declare module '*/Waiver.module.css' {
  const styles: {
    readonly signedBy: string
  }
  export default styles
}

declare module '*/WaiverForm.module.css' {
  const styles: {
    readonly embedded: string
    readonly fields: string
    readonly file: string
    readonly form: string
    readonly heading: string
    readonly instead: string
    readonly links: string
    readonly sentTo: string
    readonly summary: string
    readonly viewer: string
  }
  export default styles
}

declare module '*/WaiverText.module.css' {
  const styles: {
    readonly closing: string
    readonly company: string
    readonly edition: string
    readonly heading: string
    readonly list: string
    readonly paper: string
    readonly title: string
  }
  export default styles
}
