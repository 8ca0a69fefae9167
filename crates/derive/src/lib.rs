//! `#[derive(Tree)]` for structs whose fields are trees, in order. Fields marked `#[tree(fixed)]`
//! hold no tensors.

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Member, parse_macro_input, parse_quote};

/// Implements `cotangent::Tree` for a struct. Each field must be a tree, or be marked
/// `#[tree(fixed)]` and implement `Clone` and `Debug`. Fixed fields are cloned, and their `Debug`
/// text is part of the tree's structure. Type parameters must be trees, too.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    expand(parse_macro_input!(input as DeriveInput)).into()
}

/// Code of the trait's methods for one field.
struct FieldCode {
    leaves: Tokens,
    rebuilt: Tokens,
    structure: Tokens,
    paths: Tokens,
}

impl FieldCode {
    /// The code for the field at this position.
    fn new(position: usize, f: &Field) -> syn::Result<FieldCode> {
        let member = match &f.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(position.into()),
        };
        if is_fixed(f)? {
            return Ok(FieldCode {
                leaves: Tokens::new(),
                rebuilt: quote!(#member: ::std::clone::Clone::clone(&self.#member)),
                structure: quote!(out.push_str(&::std::format!("{:?};", self.#member));),
                paths: Tokens::new(),
            });
        }
        // An error of a field that is no tree points to its type.
        let span = f.ty.span().resolved_at(Span::call_site());
        let name = match &f.ident {
            Some(name) => name.unraw().to_string(),
            None => position.to_string(),
        };
        Ok(FieldCode {
            leaves: quote_spanned!(span=> ::cotangent::Tree::leaves(&self.#member, _out);),
            rebuilt: quote_spanned!(span=> #member: ::cotangent::Tree::rebuild(&self.#member, _leaves)),
            structure: quote_spanned!(span=> ::cotangent::Tree::structure(&self.#member, out);),
            paths: quote_spanned! {span=>
                ::cotangent::Tree::paths(&self.#member, &::std::format!("{}.{}", _path, #name), _out);
            },
        })
    }
}

fn expand(mut input: DeriveInput) -> Tokens {
    let Data::Struct(data) = &input.data else {
        return quote_spanned! { input.ident.span() => compile_error!("Tree can be derived for structs only"); };
    };
    let fields = data.fields.iter().enumerate();
    let fields = match fields
        .map(|(i, f)| FieldCode::new(i, f))
        .collect::<syn::Result<Vec<_>>>()
    {
        Ok(fields) => fields,
        Err(e) => return e.to_compile_error(),
    };
    let leaves = fields.iter().map(|f| &f.leaves);
    let rebuilt = fields.iter().map(|f| &f.rebuilt);
    let structure = fields.iter().map(|f| &f.structure);
    let paths = fields.iter().map(|f| &f.paths);
    for p in input.generics.type_params_mut() {
        p.bounds.push(parse_quote!(::cotangent::Tree));
    }
    let name = &input.ident;
    let text = name.to_string();
    let (generics, of, bounds) = input.generics.split_for_impl();
    let mut nested = input.generics.clone();
    nested.params.push(parse_quote!(__Nested));
    let (nesting, _, _) = nested.split_for_impl();
    quote! {
        impl #generics ::cotangent::Tree for #name #of #bounds {
            fn leaves<'__tree>(&'__tree self, _out: &mut ::std::vec::Vec<&'__tree ::cotangent::TracedTensor>) {
                #(#leaves)*
            }

            fn rebuild(
                &self,
                _leaves: &mut dyn ::std::iter::Iterator<Item = ::cotangent::TracedTensor>,
            ) -> Self {
                Self { #(#rebuilt),* }
            }

            fn structure(&self, out: &mut ::std::string::String) {
                out.push_str(#text);
                out.push('(');
                #(#structure)*
                out.push(')');
            }

            fn paths(
                &self,
                _path: &str,
                _out: &mut ::std::vec::Vec<::std::string::String>,
            ) {
                #(#paths)*
            }
        }

        impl #nesting ::cotangent::closures::Nest<__Nested> for #name #of #bounds {
            type Of = ::std::vec::Vec<__Nested>;

            fn nest(&self, next: &mut dyn ::std::ops::FnMut() -> __Nested) -> Self::Of {
                let mut leaves = ::std::vec::Vec::new();
                ::cotangent::Tree::leaves(self, &mut leaves);
                leaves.iter().map(|_| next()).collect()
            }
        }
    }
}

/// Whether a field is marked `#[tree(fixed)]`.
fn is_fixed(f: &Field) -> syn::Result<bool> {
    let mut fixed = false;
    for a in f.attrs.iter().filter(|a| a.path().is_ident("tree")) {
        a.parse_nested_meta(|meta| match meta.path.is_ident("fixed") {
            true => {
                fixed = true;
                Ok(())
            }
            false => Err(meta.error("expected `fixed`")),
        })?;
    }
    Ok(fixed)
}
